"""A database that is just starting is waited for; one that is not there is told of at once."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine.database import check_reachable, connect


class Stub:
    """Answers so often that it cannot be reached, and why."""

    def __init__(self, engine: Engine, times: int, why: str) -> None:
        self.engine = engine
        self.url = make_url("postgresql://somewhere/prices")
        self.times = times
        self.why = why

    def connect(self) -> Any:
        if self.times:
            self.times -= 1
            raise OperationalError("", {}, Exception(self.why))
        return self.engine.connect()


def test_one_that_starts_is_waited_for(database: Any) -> None:
    stub: Any = Stub(connect(make_url(database.url)), 2, "FATAL:  the database system is starting up")
    check_reachable(stub)
    assert stub.times == 0
    stub.engine.dispose()


@pytest.mark.parametrize(
    ("why", "patience"), [("connection refused", 30.0), ("the database system is starting up", 0.0)]
)
def test_one_that_is_not_there_is_told_of(database: Any, why: str, patience: float) -> None:
    stub: Any = Stub(database.engine, 1, why)
    with pytest.raises(DatabaseUnavailable, match=why):
        check_reachable(stub, patience)


def test_an_address_with_an_option_that_does_not_exist() -> None:
    engine = connect(make_url("postgresql+psycopg2://127.0.0.1:1/prices?colour=blue"))
    with pytest.raises(DatabaseUnavailable, match=r"colour.*correct DATABASE_URL"):
        check_reachable(engine)
