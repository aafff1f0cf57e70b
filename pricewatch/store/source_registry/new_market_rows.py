"""Rows for a new market, and for the source that it belongs to where there is none yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from pricewatch.store.models import Market, Source


def market_exists(connection: Connection, market_id: str) -> bool:
    return connection.execute(select(Market.id).where(Market.id == market_id)).first() is not None


def insert_market(connection: Connection, values: Mapping[str, Any]) -> None:
    connection.execute(insert(Market).values(dict(values)))


def insert_source(connection: Connection, values: Mapping[str, Any]) -> None:
    connection.execute(insert(Source).values(dict(values)))
