"""Observations to store, made up for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine

from pricewatch.items import Card, Offer, SellerInfo
from pricewatch.store.writing import history_append, listing_upsert
from pricewatch.store.writing.batch import Batch, BatchWriter, Write, WriteCounts, WriteUnit
from pricewatch.store.writing.incoming_rows import Row, card_row, offer_row
from pricewatch.vocabulary import Availability, SellerType

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MARKET = "bazaar-bikes"


def on_rows(*writes: Write) -> list[Write]:
    """As the pipelines do it: only where there are rows."""

    def guarded(write: Write) -> Write:
        return lambda connection, batch: write(connection, batch) if batch.has_rows else None

    return [guarded(write) for write in writes]


def call_items(connection: Connection, batch: Batch) -> None:
    """Where the item of a unit is a function, it writes what belongs to the rows."""
    batch.count(connection)
    for unit in batch.units:
        if callable(unit.item):
            unit.item(connection, unit.counts)


WRITES: list[Write] = [*on_rows(listing_upsert.upsert, history_append.append), call_items]


def later(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def card(number: int | str, price: int | None = 1000, at: datetime = START, **fields: Any) -> Row:
    """What an overview page says of listing number so-and-so."""
    url = fields.pop("url", f"https://bazaar.example/item/{number}")
    currency = fields.pop("currency", "EUR" if price is not None else None)
    identity = fields.pop("identity_key", f"PID:{number}")
    made = Card(
        url=url,
        title=fields.pop("title", f"Thing {number}"),
        price_cents=price,
        currency=currency,
        identity_key=identity,
        product_id=str(number),
        seller=fields.pop("seller", SellerInfo("7", "Ada", SellerType.USER)),
        availability=fields.pop("availability", Availability.IN_STOCK),
        **fields,
    )
    return card_row(made, "bazaar", at.isoformat(), "1.0.0")


def offer(number: int | str, price: int = 1000, at: datetime = START, **fields: Any) -> Row:
    """What its own page says of it."""
    made = Offer(
        url=f"https://bazaar.example/item/{number}",
        title=fields.pop("title", f"Thing {number}"),
        price_cents=price,
        currency="EUR",
        availability=fields.pop("availability", Availability.IN_STOCK),
        source="bazaar",
        observed_at=at,
        identity_key=f"PID:{number}",
        adapter_version="1.0.0",
        product_id=str(number),
        **fields,
    )
    return offer_row(made, at + timedelta(hours=24))


def store(engine: Engine, rows: list[Row], run_id: int = 1, market_id: str | None = MARKET) -> WriteCounts:
    """One batch of one unit."""
    return stored_unit(engine, rows, run_id, market_id).counts


def stored_unit(
    engine: Engine, rows: list[Row], run_id: int = 1, market_id: str | None = MARKET
) -> WriteUnit:
    unit = WriteUnit(rows)
    with engine.connect() as connection:
        BatchWriter(WRITES, run_id, market_id).store(connection, [unit])
    assert unit.stored
    return unit
