"""The listing columns of the admin pages, and rows with prices as Money."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping

from pricewatch.money import Money

_CONFIDENCE = "confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, :now)"
_PRICE_CONFIDENCE = "price_confidence(coalesce(m.tier, 'standard'), l.price_observed_at, :now)"
LISTING_COLUMNS = f"""
l.id, l.source_id, l.market_id, l.title, l.url, l.price_cents, l.price_max_cents, l.currency, l.availability,
l.active, l.sold_at, l.deactivated_at, l.removed_at, l.first_seen_at, l.last_seen_at, l.last_verified_at,
l.times_seen, l.location, l.brand, l.product_id, l.verification_status, l.price_observed_at, l.gtin,
l.image_url, l.area, listing_rooms(l.attributes) AS rooms,
unit_price_cents(l.price_cents, l.area) AS unit_price_cents,
{_CONFIDENCE} AS confidence, {_PRICE_CONFIDENCE} AS price_confidence,
least({_CONFIDENCE}, {_PRICE_CONFIDENCE}) AS freshness_confidence
"""


def rows_with_money(result: Any) -> list[dict[str, Any]]:
    return [with_money(row) for row in result.mappings()]


def with_money(row: RowMapping | dict[str, Any]) -> dict[str, Any]:
    """Add `price`, `price_max` and `unit_price` (per m²) as Money to a row that has a price."""
    if "price_cents" not in row:
        return dict(row)
    currency = row["currency"]
    highest = Money.of(row.get("price_max_cents"), currency)
    unit_price = Money.of(row.get("unit_price_cents"), currency)
    price = Money.of(row["price_cents"], currency)
    return {**row, "price": price, "price_max": highest, "unit_price": unit_price}
