"""This daemon as a member of the cluster: its name, its lease, and its database connections."""

from __future__ import annotations

import os
import socket
import uuid
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import lru_cache

from scrapyd.config import Config
from sqlalchemy import Connection, Engine

from pricewatch.store.engine import database
from pricewatch.store.queues.job_queue import LeaseHolder

DEFAULT_PORT = 6800
STATEMENT_TIMEOUT_MS = 10_000
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Membership:
    """One running instance of a daemon."""

    def __init__(self, config: Config) -> None:
        self.host = socket.gethostname()
        self.port = http_port(config)
        self.address = bind_address(config)
        self.lease = timedelta(seconds=config.getfloat("lease_seconds", 30))
        self.place = LeaseHolder(node_name(self.port), f"{self.host}/{uuid.uuid4().hex}", self.lease)

    @property
    def url(self) -> str | None:
        """The URL of this node; a loopback address if it listens on this machine only."""
        if self.address in LOOPBACK:
            return f"http://127.0.0.1:{self.port}"
        host = self.host if self.address in ("0.0.0.0", "::", "") else self.address  # noqa: S104 - compared
        return f"http://{host}:{self.port}"

    def is_on_this_host(self, instance: str) -> bool:
        """Whether this instance of a daemon was started on this machine."""
        return instance.rpartition("/")[0] == self.host

    def begin(self) -> AbstractContextManager[Connection]:
        """A transaction on a connection with a statement timeout."""
        return store_engine().begin()

    def snapshot(self) -> AbstractContextManager[Connection]:
        """A snapshot for several queries: a job that changes state meanwhile is in one list, not in two."""
        return store_engine().execution_options(isolation_level="REPEATABLE READ").begin()


@lru_cache(maxsize=8)
def membership(config: Config) -> Membership:
    """The membership that all components of a daemon share."""
    return Membership(config)


@lru_cache(maxsize=1)
def store_engine() -> Engine:
    """The daemon's engine; the first call fails if the database is unreachable or has no schema."""
    database.engine()
    return database.connect(pool_size=8, statement_timeout_ms=STATEMENT_TIMEOUT_MS)


def node_name(port: int) -> str:
    """PRICEWATCH_NODE, else the machine's name; a second daemon on the same machine adds its port."""
    if name := os.environ.get("PRICEWATCH_NODE"):
        return name
    return socket.gethostname() if port == DEFAULT_PORT else f"{socket.gethostname()}:{port}"


def http_port(config: Config) -> int:
    return int(os.environ.get("SCRAPYD_HTTP_PORT") or config.getint("http_port", DEFAULT_PORT))


def bind_address(config: Config) -> str:
    return str(os.environ.get("SCRAPYD_BIND_ADDRESS") or config.get("bind_address", "127.0.0.1"))
