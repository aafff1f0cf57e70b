"""The comparison itself: it must notice what is wrong, or the month proves nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pricewatch.bazaar.client import TruthListing
from pricewatch.money import Money
from pricewatch.simulation.audit import Stored, audit

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return BEGIN + timedelta(days=number)


def true(**changes: Any) -> TruthListing:
    values: dict[str, Any] = {
        "id": "1",
        "ids": ["1"],
        "url": "/item/one",
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
    return TruthListing(**{**values, **changes})


def euros(cents: int) -> Money:
    return Money(cents, "EUR")


def right() -> Stored:
    return Stored(1, True, euros(90), [(day(1), euros(100), "IN_STOCK"), (day(5), euros(90), "IN_STOCK")])


def broken(listing: TruthListing, stored: Stored | None) -> list[str]:
    verdict = audit(
        [listing],
        {listing.url: stored} if stored else {},
        cycles=[(day(1), day(1.2)), (day(5), day(5.2))],
        looks=[day(n / 4) for n in range(40)],
        patience=timedelta(hours=30),
    )
    return list(verdict.broken)


def test_what_is_right_passes():
    assert broken(true(), right()) == []


def test_an_unknown_listing_is_noticed():
    assert broken(true(), None) == ["a listing that was up for a whole sweep is not known"]


def test_a_listing_that_was_never_up_for_a_whole_sweep_may_be_unknown():
    assert broken(true(spans=[(day(2), day(3), "on_sale", None), (day(3), None, "gone", "404")]), None) == []


def test_a_missing_price_is_noticed():
    stored = right()
    stored.history.pop()
    assert broken(true(), stored) == ["a price that was up for a whole sweep is not in the history"]


def test_a_price_that_was_never_shown_is_noticed():
    stored = right()
    stored.history.append((day(6), euros(1), "IN_STOCK"))
    assert broken(true(), stored) == ["a price was stored that the page did not show"]


def test_the_right_amount_in_another_currency_is_noticed():
    stored = right()
    stored.history.append((day(6), Money(90, "USD"), "IN_STOCK"))
    assert broken(true(), stored) == ["a price was stored that the page did not show"]


def test_an_old_price_stored_late_is_noticed():
    stored = right()
    stored.history.append((day(6), euros(100), "IN_STOCK"))
    assert broken(true(), stored) == ["a price was stored that the page did not show"]


def test_a_repeated_row_is_noticed():
    stored = right()
    stored.history.append((day(6), euros(90), "IN_STOCK"))
    assert broken(true(), stored) == ["a history row repeats the one before"]


def test_a_listing_that_is_up_and_inactive_is_noticed():
    stored = right()
    stored.active = False
    assert broken(true(), stored) == ["a listing that is up is inactive"]


def test_a_look_that_was_wrong_is_noticed_even_if_mended():
    stored = right()
    stored.against.append((day(6), day(6.01), "gone"))
    assert broken(true(), stored) == ["a listing that was up was taken for gone"]


def test_a_listing_that_came_back_while_it_was_looked_at_may_have_been_gone():
    spans = [
        (day(0), day(5.5), "on_sale", None),
        (day(5.5), day(6), "gone", "404"),
        (day(6), None, "on_sale", None),
    ]
    stored = right()
    stored.against.append((day(5.9), day(6.1), "gone"))
    assert broken(true(spans=spans), stored) == []


def test_a_price_that_is_only_carried_over_claims_nothing():
    sold = true(spans=[(day(0), day(7), "on_sale", None), (day(7), None, "sold", None)], state="sold")
    stored = right()
    stored.active = False
    sold.prices.append((day(6), 80))
    stored.history.append((day(8), euros(90), "SOLD"))
    assert broken(sold, stored) == []
    stored.history.append((day(8.1), euros(85), "SOLD"))
    assert broken(sold, stored) == ["a price was stored that the page did not show"]


def test_a_listing_that_is_gone_and_still_active_is_noticed():
    gone = true(spans=[(day(0), day(6), "on_sale", None), (day(6), None, "gone", "404")], state="gone")
    assert broken(gone, right()) == ["a listing is gone and still active"]


def test_a_listing_that_came_back_since_the_last_sweep_may_be_inactive():
    spans = [
        (day(0), day(5.5), "on_sale", None),
        (day(5.5), day(8), "gone", "404"),
        (day(8), None, "on_sale", None),
    ]
    stored = right()
    stored.active = False
    assert broken(true(spans=spans), stored) == []
