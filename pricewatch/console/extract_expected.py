"""The `expected.json` of a saved page, with which the test of an adapter compares what it reads."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter
from pricewatch.items import Card, Extracted, ExtractFailure, Offer
from pricewatch.reading.page_calls import EXTRACT, PRESENCE, READ_OVERVIEW
from pricewatch.reading.page_reader import PageReader

CARD_FIELDS = ("url", "title", "price_cents", "currency", "availability", "product_id", "sku")
OFFER_FIELDS = (*CARD_FIELDS[1:], "price_max_cents", "location", "area", "attributes", "sold_at")


def expected_overview(reader: PageReader, adapter: Adapter, response: TextResponse) -> dict[str, Any]:
    found = reader.read(READ_OVERVIEW, adapter, response)
    page: dict[str, Any] = {"kind": "overview", "url": response.url}
    if isinstance(found, ExtractFailure):
        return {**page, "failure": found.reason}
    cards = [_fields(card, CARD_FIELDS) for card in found.cards]
    total = {} if found.total is None else {"total": found.total}
    return {**page, "has_next": found.has_next, **total, "cards": cards}


def expected_product(reader: PageReader, adapter: Adapter, response: TextResponse) -> dict[str, Any]:
    presence = reader.read(PRESENCE, adapter, response).presence
    page = {"kind": "product", "url": response.url, "presence": presence}
    found = reader.read(EXTRACT, adapter, response)
    if isinstance(found, Extracted):
        return {**page, "offer": _fields(found.offer, OFFER_FIELDS)}
    return {**page, "failure": found.reason}


def _fields(item: Card | Offer, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields that are not empty, and always the price."""
    values = asdict(item)
    fields = {
        name: values[name] for name in names if name == "price_cents" or values[name] not in (None, "", {})
    }
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()
    }
