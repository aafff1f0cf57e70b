"""Fixtures of other tests: a marketplace with its crawls, one for the middlewares, and daemons."""

from __future__ import annotations

from tests.middlewares.conftest import fetch_database, running, shared_database, site, visitor
from tests.scheduling.conftest import make_cluster, module_database
from tests.spiders.conftest import crawler, world

__all__ = [
    "crawler",
    "fetch_database",
    "make_cluster",
    "module_database",
    "running",
    "shared_database",
    "site",
    "visitor",
    "world",
]
