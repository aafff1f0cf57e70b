"""Ticks of the dispatcher on the markets that a test creates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.scheduling.dispatch_settings import DispatchSettings
from pricewatch.scheduling.dispatch_tick import DispatchTick
from pricewatch.scheduling.dispatcher import dispatch_once
from tests.databases import Database

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
DISPATCH_SETTINGS = DispatchSettings()


@pytest.fixture
def no_sample_markets(database: Database) -> None:
    database.do("UPDATE markets SET enabled = false")


def make_market(database: Database, market: str = "m", **columns: Any) -> None:
    values = {"id": market, "source_id": "bazaar", "display_name": market, **columns}
    database.do(
        f"INSERT INTO markets ({', '.join(values)}) VALUES ({', '.join(f':{name}' for name in values)})",
        **values,
    )


def run_tick(
    database: Database,
    now: datetime = NOW,
    dispatch_settings: DispatchSettings = DISPATCH_SETTINGS,
    **options: Any,
) -> DispatchTick:
    done = dispatch_once(
        database.engine.begin,
        dispatch_settings,
        node="here",
        silence=timedelta(minutes=1),
        now=now,
        **options,
    )
    assert done is not None
    return done


def pending_jobs(database: Database) -> list[tuple[str, str | None]]:
    rows = database.rows("SELECT spider, arguments->>'market' FROM jobs WHERE state = 'pending' ORDER BY id")
    return [(row[0], row[1]) for row in rows]
