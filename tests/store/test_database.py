"""Reaching the database: wait while it starts, and report at once if it does not exist."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine.database import check_reachable, connect, safe_url


class UnreachableEngine:
    """An engine that fails to connect a number of times, with a given reason."""

    def __init__(self, engine: Engine, times: int, reason: str) -> None:
        self.engine = engine
        self.url = make_url("postgresql://somewhere/prices")
        self.times = times
        self.reason = reason

    def connect(self) -> Any:
        if self.times:
            self.times -= 1
            raise OperationalError("", {}, Exception(self.reason))
        return self.engine.connect()


def test_a_starting_server_is_awaited(database: Any) -> None:
    engine: Any = UnreachableEngine(
        connect(make_url(database.url)), 2, "FATAL:  the database system is starting up"
    )
    check_reachable(engine)
    assert engine.times == 0
    engine.engine.dispose()


@pytest.mark.parametrize(
    ("reason", "timeout"), [("connection refused", 30.0), ("the database system is starting up", 0.0)]
)
def test_an_unreachable_server_is_reported(database: Any, reason: str, timeout: float) -> None:
    engine: Any = UnreachableEngine(database.engine, 1, reason)
    with pytest.raises(DatabaseUnavailable, match=reason):
        check_reachable(engine, timeout)


def test_an_unknown_option_in_the_url_is_reported() -> None:
    engine = connect(make_url("postgresql+psycopg2://127.0.0.1:1/prices?colour=blue"))
    with pytest.raises(DatabaseUnavailable, match=r"colour.*correct DATABASE_URL"):
        check_reachable(engine)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg2://u:my/secretpw@h/db", "postgresql://u:***@h/db"),
        ("postgresql://h/db?user=u&password=hunter2", "postgresql://h/db?user=u"),
        ("postgresql://h/db?sslPassword=x&sslmode=require", "postgresql://h/db?sslmode=require"),
    ],
)
def test_a_url_in_a_message_has_no_password(url: str, shown: str) -> None:
    assert safe_url(make_url(url)) == shown
