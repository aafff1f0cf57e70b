"""The address of the database, and engines that connect to it."""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache
from math import ceil, inf
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, ProgrammingError

from pricewatch.errors import DatabaseUnavailable, UserError
from pricewatch.store.engine import embedded_postgres
from pricewatch.store.engine.query_deadline import connection_class

CONNECT_TIMEOUT = 10
STARTUP_SECONDS = 30.0
ANSWER_SECONDS = 60.0
# Added to statement_timeout, so that the server reports a timeout before the client closes the connection.
SLACK_SECONDS = 5.0
_TRANSIENT = re.compile(r"database system is (starting up|shutting down|in recovery mode|not yet accepting)")
# Detect a server that left the network after 90 seconds; the system's default is two hours.
KEEPALIVE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 90_000,
}


def var_directory() -> Path:
    """Return the directory for everything that pricewatch writes to disk."""
    if configured := os.environ.get("PRICEWATCH_VAR"):
        return Path(configured).expanduser()
    configuration = closest_scrapy_cfg()
    return (Path(configuration).parent if configuration else Path.cwd()) / "var"


def database_url() -> URL:
    """Return DATABASE_URL, or the URL of the embedded server, which is started if necessary."""
    configured = os.environ.get("DATABASE_URL")
    if not configured:
        return make_url(embedded_postgres.database_url(var_directory())).set(drivername="postgresql+psycopg2")
    try:
        url = make_url(configured)
    except (ArgumentError, ValueError):
        raise UserError(
            "DATABASE_URL is not a database URL. Expected: postgresql://user:password@host/name."
        ) from None
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise UserError(
            f"DATABASE_URL is a {url.get_backend_name()} database; pricewatch needs PostgreSQL: set it to "
            "postgresql://user:password@host/name, or unset it to use the embedded server."
        )
    return url.set(drivername="postgresql+psycopg2")


def connect(url: URL | None = None, *, pool_size: int = 4, statement_timeout_ms: int = 0) -> Engine:
    """Create an engine whose sessions use UTC and whose queries have a deadline."""
    options = "-c timezone=UTC -c application_name=pricewatch"
    deadline = answer_seconds()
    if statement_timeout_ms:
        options += f" -c statement_timeout={statement_timeout_ms}"
        deadline = min(deadline, statement_timeout_ms / 1000 + SLACK_SECONDS)
    return create_engine(
        url or database_url(),
        pool_size=pool_size,
        max_overflow=4,
        pool_pre_ping=True,
        pool_timeout=deadline,
        connect_args={
            "connect_timeout": ceil(min(deadline, CONNECT_TIMEOUT)),
            "connection_factory": connection_class(deadline),
            "options": options,
            **KEEPALIVE,
        },
    )


def answer_seconds() -> float:
    """Return the seconds after which a database that does not answer counts as unavailable."""
    configured = os.environ.get("DATABASE_ANSWER_SECONDS") or str(ANSWER_SECONDS)
    try:
        seconds = float(configured)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < inf:
        raise UserError(
            f"DATABASE_ANSWER_SECONDS is {configured!r}. Expected: a number of seconds, at least 1."
        )
    return seconds


@lru_cache(maxsize=1)
def engine() -> Engine:
    """Return the engine of this process, connected to a database with an up-to-date schema."""
    from pricewatch.store.engine.schema import ensure_schema

    created = connect()
    check_reachable(created)
    ensure_schema(created)
    return created


def check_reachable(candidate: Engine, timeout: float = STARTUP_SECONDS) -> None:
    """Raise if the database cannot be reached; wait for a server that is starting or stopping."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            with candidate.connect() as connection:
                connection.execute(text("SELECT 1"))
        except (OperationalError, ProgrammingError) as error:
            reason = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
            if _TRANSIENT.search(str(error.orig)) and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            address = safe_url(candidate.url)
            raise DatabaseUnavailable(
                f"The database at {address} cannot be reached ({reason}): start it, or correct DATABASE_URL."
            ) from None
        return


def safe_url(url: URL) -> str:
    """Return a database URL for messages, without the password."""
    query = {name: value for name, value in url.query.items() if "pass" not in name.lower()}
    return url.set(drivername="postgresql", query=query).render_as_string(hide_password=True)
