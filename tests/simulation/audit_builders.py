"""Builders of true and stored listings for tests of the audit. The defaults match each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pricewatch.bazaar.client import ShownPeriod, TruthListing
from pricewatch.simulation.audited_listings import AuditedListing, AuditRow, CrawlCoverage, DatedPrice
from pricewatch.simulation.listing_audit import audit_listings

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
STOCKS = {"on_sale": "in", "out_of_stock": "out", "unlisted": "in", "sold": "sold"}


def day(number: float) -> datetime:
    return BEGIN + timedelta(days=number)


def row(at: float, price: int, availability: str = "IN_STOCK", currency: str = "EUR") -> AuditRow:
    return AuditRow(day(at), price, currency, availability)


def dated(at: float, price: int, currency: str = "EUR", read: float | None = None) -> DatedPrice:
    return DatedPrice(day(at), price, currency, None if read is None else day(read))


def shown(begins: float, ends: float | None = None, **changes: Any) -> ShownPeriod:
    values: dict[str, Any] = {
        "begins": day(begins),
        "ends": None if ends is None else day(ends),
        "listed": True,
        "card_price": True,
        "page_price": True,
        "card_stock": "in",
        "page_stock": "in",
        "currency": "EUR",
    }
    return ShownPeriod(**{**values, **changes})


def shown_in_state(span: tuple[datetime, datetime | None, str, str | None]) -> ShownPeriod:
    """Return what a listing in this state shows, without habits of the shop."""
    begins, ends, state, mode = span
    listed = state in ("on_sale", "out_of_stock")
    stock = STOCKS.get(state)
    is_shown = stock is not None and mode != "hidden"
    return ShownPeriod(
        begins, ends, listed, listed and is_shown, is_shown, stock if listed else None, stock, "EUR"
    )


def truth_listing(**changes: Any) -> TruthListing:
    values: dict[str, Any] = {
        "id": "1",
        "ids": ["1"],
        "url": "/item/one",
        "urls": ["/item/one"],
        "other_urls": [],
        "title": "One",
        "category": "bikes",
        "currency": "EUR",
        "seller_id": "1",
        "city": "Wien",
        "markup": "jsonld",
        "listed_at": day(0),
        "relisted_at": None,
        "prices": [(day(0), 100), (day(4), 90)],
        "spans": [(day(0), None, "on_sale", None)],
        "state": "on_sale",
        "mode": None,
        "price": 90,
    }
    values |= changes
    return TruthListing(**{"shown": [shown_in_state(span) for span in values["spans"]], **values})


def stored_listing(**changes: Any) -> AuditedListing:
    values: dict[str, Any] = {
        "id": 1,
        "active": True,
        "price_cents": 90,
        "currency": "EUR",
        "dated_prices": [dated(5.1, 90)],
        "history": [row(1, 100), row(5, 90)],
    }
    return AuditedListing(**{**values, **changes})


def coverage(**changes: Any) -> CrawlCoverage:
    values: dict[str, Any] = {
        "cycles": [(day(1), day(1.2)), (day(5), day(5.2))],
        "check_times": [day(n / 4) for n in range(40)],
        "grace": timedelta(hours=30),
        "long_grace": timedelta(hours=48),
    }
    return CrawlCoverage(**{**values, **changes})


def violations(
    listing: TruthListing, *stored: AuditedListing, crawled: CrawlCoverage | None = None
) -> list[str]:
    """Return the rules that are broken."""
    by_path = dict(zip([listing.url, *listing.urls, *listing.other_urls], stored, strict=False))
    return list(audit_listings([listing], by_path, crawled or coverage()).broken)
