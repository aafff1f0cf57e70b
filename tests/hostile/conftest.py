"""Fixtures of other tests: a marketplace with its crawls, one for the middlewares, and daemons."""

from __future__ import annotations

from tests.fetching.conftest import fetch_database, fetch_process, shared_database, site, site_server
from tests.scheduling.conftest import make_cluster, module_database
from tests.spiders.conftest import crawler, world

__all__ = [
    "crawler",
    "fetch_database",
    "fetch_process",
    "make_cluster",
    "module_database",
    "shared_database",
    "site",
    "site_server",
    "world",
]
