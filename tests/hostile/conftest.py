"""The worlds of the other tests: a marketplace with its crawls, and one that is fetched from."""

from __future__ import annotations

from tests.middlewares.conftest import fetch_database, running, shared_database, site, visitor
from tests.spiders.conftest import crawler, world

__all__ = ["crawler", "fetch_database", "running", "shared_database", "site", "visitor", "world"]
