"""The fixtures of tests/fetching."""

from __future__ import annotations

from tests.fetching.conftest import (
    fetch_database,
    fetch_process,
    redis_url,
    shared_database,
    site,
    site_server,
)

__all__ = ["fetch_database", "fetch_process", "redis_url", "shared_database", "site", "site_server"]
