"""Sample observations, and functions that store them."""

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
    """Run the steps only if the batch has rows, as the pipelines do."""

    def guarded(write: Write) -> Write:
        return lambda connection, batch: write(connection, batch) if batch.has_rows else None

    return [guarded(write) for write in writes]


def call_items(connection: Connection, batch: Batch) -> None:
    """Call the items of units that are functions, in the transaction of the batch."""
    batch.count(connection)
    for unit in batch.units:
        if callable(unit.item):
            unit.item(connection, unit.counts)


WRITES: list[Write] = [*on_rows(listing_upsert.upsert, history_append.append), call_items]


def later(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def card(number: int | str, price: int | None = 1000, at: datetime = START, **fields: Any) -> Row:
    """Return the row of a card on an overview page."""
    url = fields.pop("url", f"https://bazaar.example/item/{number}")
    currency = fields.pop("currency", "EUR" if price is not None else None)
    identity = fields.pop("identity_key", f"PID:{number}")
    item = Card(
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
    return card_row(item, "bazaar", at.isoformat(), "1.0.0")


def offer(number: int | str, price: int = 1000, at: datetime = START, **fields: Any) -> Row:
    """Return the row of an offer on a product page."""
    item = Offer(
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
    return offer_row(item, at + timedelta(hours=24))


# Cards that the database refuses.
REFUSED_CARDS = {
    "NUL character": card(90, title="a\x00b"),
    "lone surrogate": card(91, title="\ud800"),
    "currency with four letters": card(92, currency="EURO"),
    "currency in lower case": card(93, currency="eur"),
    "price without a currency": {**card(94), "currency": None},
    "price of zero": card(95, 0),
    "price above the limit": card(96, 100_000_000),
    "price above the integer range": card(97, 10**15),
    "unknown availability": card(98, availability=Availability.UNKNOWN),
    "identity key without a prefix": card(99, identity_key="99"),
    "URL too long for an index": card(100, url="https://bazaar.example/" + "".join(map(str, range(40_000)))),
    "unknown seller type": {**card(101), "seller_type": "robot"},
    "no time of observation": {**card(102), "observed_at": None},
    "area that is not a number": card(103, area=float("nan")),
    "attribute that JSON cannot represent": card(104, attributes={"made": {1, 2}}),
}


def store(engine: Engine, rows: list[Row], run_id: int = 1, market_id: str | None = MARKET) -> WriteCounts:
    """Store the rows as one unit in one batch, and return its counts."""
    return stored_unit(engine, rows, run_id, market_id).counts


def stored_unit(
    engine: Engine, rows: list[Row], run_id: int = 1, market_id: str | None = MARKET
) -> WriteUnit:
    unit = WriteUnit(rows)
    with engine.connect() as connection:
        BatchWriter(WRITES, run_id, market_id).store(connection, [unit])
    assert unit.stored
    return unit
