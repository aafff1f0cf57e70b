"""What an adapter makes of a saved page, as the `expected.json` that its test compares with from then on."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter
from pricewatch.items import Card, Extracted, ExtractFailure, Offer

OF_A_CARD = ("url", "title", "price_cents", "currency", "availability", "product_id", "sku")
OF_AN_OFFER = (*OF_A_CARD[1:], "price_max_cents", "location", "area", "attributes", "sold_at")


def expected_overview(adapter: Adapter, response: TextResponse) -> dict[str, Any]:
    found = adapter.read_overview(response)
    page: dict[str, Any] = {"kind": "overview", "url": response.url}
    if isinstance(found, ExtractFailure):
        return {**page, "failure": found.reason}
    cards = [_named(card, OF_A_CARD) for card in found.cards]
    total = {} if found.total is None else {"total": found.total}
    return {**page, "has_next": found.has_next, **total, "cards": cards}


def expected_product(adapter: Adapter, response: TextResponse) -> dict[str, Any]:
    page = {"kind": "product", "url": response.url, "presence": adapter.presence(response).presence}
    found = adapter.extract(response)
    if isinstance(found, Extracted):
        return {**page, "offer": _named(found.offer, OF_AN_OFFER)}
    return {**page, "failure": found.reason}


def _named(item: Card | Offer, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that say something; a price is named even where there is none."""
    values = asdict(item)
    named = {
        name: values[name] for name in names if name == "price_cents" or values[name] not in (None, "", {})
    }
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in named.items()
    }
