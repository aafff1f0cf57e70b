"""Fixtures of other tests: a marketplace with its crawls, one for the middlewares, and daemons."""

from __future__ import annotations

from tests.fetching.conftest import fetch_database, fetch_process, shared_database, site, site_server
from tests.scheduling.conftest import daemon, locked_daemon, make_cluster, module_database, one_daemon
from tests.spiders.conftest import crawler, world

__all__ = [
    "crawler",
    "daemon",
    "fetch_database",
    "fetch_process",
    "locked_daemon",
    "make_cluster",
    "module_database",
    "one_daemon",
    "shared_database",
    "site",
    "site_server",
    "world",
]
