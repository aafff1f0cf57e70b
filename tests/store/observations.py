"""Observations to store, made up for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine

from pricewatch.items import Availability, Card, Offer, Seller, SellerType
from pricewatch.store import history, listings
from pricewatch.store.batch import Batch, Step, Tally, Unit
from pricewatch.store.incoming import Row, card_row, offer_row

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
STEPS: list[Step] = [listings.upsert, history.append]
MARKET = "bazaar-bikes"


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
        seller=fields.pop("seller", Seller("7", "Ada", SellerType.USER)),
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


def store(engine: Engine, rows: list[Row], run_id: int = 1, market_id: str | None = MARKET) -> Tally:
    """One batch of one unit."""
    unit = Unit(rows)
    with engine.connect() as connection:
        Batch(STEPS, run_id, market_id).store(connection, [unit])
    assert unit.stored
    return unit.tally
