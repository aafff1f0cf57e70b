"""Two cards of one listing on a page are merged into one, with one price and its currency."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.items import Card
from pricewatch.money import Money
from pricewatch.pipelines.validate import merge_cards


def card(**fields: Any) -> Card:
    return Card(url="https://bazaar.example/1", title="Thing", **fields)


RICH: dict[str, Any] = {"location": "Wien", "image": "https://bazaar.example/1.jpg", "area": 5.0, "sku": "1"}


@pytest.mark.parametrize("swapped", [False, True])
def test_price_is_copied_with_its_currency(swapped: bool) -> None:
    cards = [card(**RICH), card(price_cents=900, currency="JPY")]
    merged = merge_cards(*(cards[::-1] if swapped else cards))
    assert merged.price == Money(900, "JPY")
    assert merged.location == "Wien"


def test_upper_bound_of_another_price_is_not_copied() -> None:
    dollars = card(price_cents=1_000, currency="USD", **RICH)
    merged = merge_cards(dollars, card(price_cents=900, price_max_cents=5_000, currency="JPY"))
    assert (merged.price, merged.price_max_cents) == (Money(1_000, "USD"), None)
