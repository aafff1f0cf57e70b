"""A complete item of a custom spider, and functions that read variations of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from itemadapter import ItemAdapter

from pricewatch.adapters.item_reader import read_offer
from pricewatch.items import Drop, Offer
from pricewatch.vocabulary import DropReason

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
URL = "https://shop.example/kettle"
KETTLE = {"url": URL, "title": "Kettle", "price": "12.50", "currency": "EUR"}


def read(**fields: Any) -> tuple[Offer, Drop | None]:
    return read_offer(ItemAdapter({**KETTLE, **fields}), "shop.example", NOW)


def accepted(**fields: Any) -> Offer:
    offer, drop = read(**fields)
    assert drop is None
    return offer


def dropped(**fields: Any) -> tuple[DropReason, str]:
    _, drop = read(**fields)
    assert drop is not None
    return drop.reason, drop.details
