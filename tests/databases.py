"""The PostgreSQL server of a test session, and its databases."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from queue import Queue
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pricewatch.store.engine import embedded_postgres
from tests import processes

DRIVER = "postgresql+psycopg2"
# The number of databases that are copied in advance.
MAX_READY = 3
# Faster: the data of tests need not survive a crash of the machine.
UNSAFE_SETTINGS = "\nfsync = off\nsynchronous_commit = off\nfull_page_writes = off\n"


class Server:
    """The PostgreSQL server of this test session."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.admin_url = make_url(embedded_postgres.database_url(directory)).set(drivername=DRIVER)
        self._numbers = count(1)
        with (directory / "postgres" / "postgresql.conf").open("a") as configuration:
            configuration.write(UNSAFE_SETTINGS)
        self.execute("SELECT pg_reload_conf()")

    def execute(self, statement: str) -> None:
        """Run a statement that is not about a single database, such as CREATE DATABASE."""
        engine = create_engine(self.admin_url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))

    def restart(self, mode: str) -> None:
        """Restart the server: `fast` shuts it down cleanly, `immediate` is like a crash."""
        with processes.for_the_session():
            embedded_postgres.pg_ctl(self.directory, "restart", "-m", mode)

    def stop(self) -> None:
        embedded_postgres.pg_ctl(self.directory, "stop", "-m", "fast")

    def start(self) -> None:
        with processes.for_the_session():
            embedded_postgres.database_url(self.directory)

    def create(self, template: str = "template1") -> URL:
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return self.admin_url.set(database=name)

    def drop(self, url: URL) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {url.database} WITH (FORCE)")


class Copies:
    """Copies of the migrated database, made in advance while tests run."""

    def __init__(self, server: Server, template: str) -> None:
        self._server = server
        self._template = template
        self._ready: Queue[URL] = Queue(maxsize=MAX_READY)
        self._is_closed = False
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def take(self) -> URL:
        return self._ready.get(timeout=60)

    def close(self) -> None:
        self._is_closed = True
        while self._thread.is_alive():
            while not self._ready.empty():
                self._ready.get()
            self._thread.join(0.05)

    def _copy(self) -> None:
        while not self._is_closed:
            try:
                copied = self._server.create(self._template)
            except DBAPIError:
                # A test has stopped the server.
                time.sleep(0.1)
            else:
                self._ready.put(copied)


class Database:
    """The database of one test, with shortcuts for queries."""

    def __init__(self, url: URL, engine: Engine) -> None:
        self.url = url.render_as_string(hide_password=False)
        self.engine = engine

    def rows(self, query: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            return list(connection.execute(text(query), values))

    def row(self, query: str, **values: Any) -> Any:
        (row,) = self.rows(query, **values)
        return row

    def value(self, query: str, **values: Any) -> Any:
        return self.row(query, **values)[0]

    def do(self, statement: str, **values: Any) -> int:
        with self.engine.begin() as connection:
            return connection.execute(text(statement), values).rowcount

    def call(self, function: Callable[..., Any], *args: Any, **values: Any) -> Any:
        """Run a function of the store in a new transaction."""
        with self.engine.begin() as connection:
            return function(connection, *args, **values)

    def begin(self) -> Connection:
        """Return a connection with an open transaction, for tests that hold locks. The caller closes it."""
        connection = self.engine.connect()
        connection.begin()
        return connection

    def last_run(self, spider: str = "discovery") -> Any:
        return self.rows("SELECT * FROM runs WHERE spider = :spider ORDER BY id DESC LIMIT 1", spider=spider)[
            0
        ]
