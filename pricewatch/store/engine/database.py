"""Where the database is, and connections to it."""

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
from pricewatch.store.engine.query_deadline import patient

CONNECT_TIMEOUT = 10
STARTING_SECONDS = 30.0
ANSWER_SECONDS = 60.0
SLACK_SECONDS = 5.0
_PASSES = re.compile(r"database system is (starting up|shutting down|in recovery mode|not yet accepting)")
# A server that vanished from the network is noticed in a minute and a half, not in the system's two hours.
KEEPALIVE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 90_000,
}


def var_directory() -> Path:
    """Where everything that pricewatch writes to disk lives."""
    if configured := os.environ.get("PRICEWATCH_VAR"):
        return Path(configured).expanduser()
    configuration = closest_scrapy_cfg()
    return (Path(configuration).parent if configuration else Path.cwd()) / "var"


def database_url() -> URL:
    """DATABASE_URL, or else the embedded server, started if need be."""
    given = os.environ.get("DATABASE_URL")
    if not given:
        return make_url(embedded_postgres.database_url(var_directory())).set(drivername="postgresql+psycopg2")
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise UserError(
            "DATABASE_URL is not a database address; it should look like postgresql://user:password@host/name."
        ) from None
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise UserError(
            f"DATABASE_URL names a {url.get_backend_name()} database; pricewatch needs PostgreSQL "
            "(postgresql://user:password@host/name), or none at all to use the embedded one."
        )
    return url.set(drivername="postgresql+psycopg2")


def connect(url: URL | None = None, *, pool_size: int = 4, statement_timeout_ms: int = 0) -> Engine:
    """An engine for this process. Times come and go in UTC; no answer is waited for without end."""
    options = "-c timezone=UTC -c application_name=pricewatch"
    patience = answer_seconds()
    if statement_timeout_ms:
        options += f" -c statement_timeout={statement_timeout_ms}"
        # A server that is well says by itself that it gives up.
        patience = min(patience, statement_timeout_ms / 1000 + SLACK_SECONDS)
    return create_engine(
        url or database_url(),
        pool_size=pool_size,
        max_overflow=4,
        pool_pre_ping=True,
        pool_timeout=patience,
        connect_args={
            "connect_timeout": ceil(min(patience, CONNECT_TIMEOUT)),
            "connection_factory": patient(patience),
            "options": options,
            **KEEPALIVE,
        },
    )


def answer_seconds() -> float:
    """How long an answer of the database may take before it counts as away."""
    given = os.environ.get("DATABASE_ANSWER_SECONDS") or str(ANSWER_SECONDS)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < inf:
        raise UserError(
            f"DATABASE_ANSWER_SECONDS is {given!r}; it should be a number of seconds, at least 1."
        )
    return seconds


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The one engine of this process: reachable, and with the schema that this code needs."""
    from pricewatch.store.engine.schema import ensure_schema

    created = connect()
    check_reachable(created)
    ensure_schema(created)
    return created


def check_reachable(candidate: Engine, patience: float = STARTING_SECONDS) -> None:
    """One that says that it is just starting or stopping is waited for; any other answer is final."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with candidate.connect() as connection:
                connection.execute(text("SELECT 1"))
        except (OperationalError, ProgrammingError) as error:
            reason = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
            if _PASSES.search(str(error.orig)) and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            where = shown(candidate.url)
            raise DatabaseUnavailable(
                f"The database at {where} cannot be reached ({reason}): start it, or correct DATABASE_URL."
            ) from None
        return


def shown(url: URL) -> str:
    """A database address as a person may see it: without the password."""
    return url.set(drivername="postgresql").render_as_string(hide_password=True)
