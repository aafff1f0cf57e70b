"""The comparison itself: it must notice what is wrong, or the month proves nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.bazaar.client import ShownPeriod, TruthListing
from pricewatch.simulation.store_audit import (
    Age,
    AuditRow,
    AuditRule,
    Stored,
    Watching,
    audit,
    disabled_adapters,
    held_twice,
    lost_targets,
    stuck_sweeps,
)

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
STOCKS = {"on_sale": "in", "out_of_stock": "out", "unlisted": "in", "sold": "sold"}


def day(number: float) -> datetime:
    return BEGIN + timedelta(days=number)


def row(at: float, price: int, availability: str = "IN_STOCK", currency: str = "EUR") -> AuditRow:
    return AuditRow(day(at), price, currency, availability)


def age(at: float, price: int, currency: str = "EUR", read: float | None = None) -> Age:
    return Age(day(at), price, currency, None if read is None else day(read))


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


def said(span: tuple[datetime, datetime | None, str, str | None]) -> ShownPeriod:
    """What is shown of a listing in one of its states, without any habit."""
    begins, ends, state, mode = span
    listed = state in ("on_sale", "out_of_stock")
    stock = STOCKS.get(state)
    told = stock is not None and mode != "hidden"
    return ShownPeriod(begins, ends, listed, listed and told, told, stock if listed else None, stock, "EUR")


def true(**changes: Any) -> TruthListing:
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
    return TruthListing(**{"shown": [said(span) for span in values["spans"]], **values})


def right(**changes: Any) -> Stored:
    values: dict[str, Any] = {
        "id": 1,
        "active": True,
        "price_cents": 90,
        "currency": "EUR",
        "ages": [age(5.1, 90)],
        "history": [row(1, 100), row(5, 90)],
    }
    return Stored(**{**values, **changes})


def watching(**changes: Any) -> Watching:
    values: dict[str, Any] = {
        "cycles": [(day(1), day(1.2)), (day(5), day(5.2))],
        "looks": [day(n / 4) for n in range(40)],
        "patience": timedelta(hours=30),
        "long_patience": timedelta(hours=48),
    }
    return Watching(**{**values, **changes})


def broken(listing: TruthListing, *stored: Stored, watched: Watching | None = None) -> list[str]:
    by_path = dict(zip([listing.url, *listing.urls, *listing.other_urls], stored, strict=False))
    return list(audit([listing], by_path, watched or watching()).broken)


def test_what_is_right_passes():
    assert broken(true(), right()) == []


def test_an_unknown_listing_is_noticed():
    assert broken(true()) == ["a listing that was up for a whole sweep is not known"]


def test_a_listing_that_was_never_up_for_a_whole_sweep_may_be_unknown():
    assert broken(true(spans=[(day(2), day(3), "on_sale", None), (day(3), None, "gone", "404")])) == []


def test_a_missing_price_is_noticed():
    stored = right()
    stored.history.pop()
    assert broken(true(), stored) == ["a price that was up for a whole sweep is not in the history"]


def test_a_price_that_was_never_shown_is_noticed():
    stored = right()
    stored.history.append(row(6, 1))
    assert broken(true(), stored) == ["a price was stored that the page did not show"]


def test_an_old_price_stored_late_is_noticed():
    stored = right()
    stored.history.append(row(6, 100))
    assert broken(true(), stored) == ["a price was stored that the page did not show"]


def test_a_repeated_row_is_noticed():
    stored = right()
    stored.history.append(row(6, 90))
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
    stored = right(active=False)
    sold.prices.append((day(6), 80))
    stored.history.append(row(8, 90, "SOLD"))
    assert broken(sold, stored) == []
    stored.history.append(row(8.1, 85, "SOLD"))
    assert broken(sold, stored) == ["a price was stored that the page did not show"]


def test_a_listing_that_is_gone_and_still_active_is_noticed():
    gone = true(spans=[(day(0), day(6), "on_sale", None), (day(6), None, "gone", "404")], state="gone")
    assert broken(gone, right()) == ["a listing is gone and still active"]


@pytest.mark.parametrize("mode", ["to_similar", "to_category"])
def test_a_page_that_leads_elsewhere_takes_patience(mode: str) -> None:
    gone = true(spans=[(day(0), day(6), "on_sale", None), (day(6), None, "gone", mode)], state="gone")
    at_once = watching(looks=[day(7.5), day(7.75)])
    assert broken(gone, right(), watched=at_once) == []
    assert broken(gone, right()) == [AuditRule.STILL_ACTIVE]
    assert broken(gone, right(), watched=watching(long_patience=None)) == []


def test_many_that_vanish_at_once_take_patience() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "gone", "404")]
    gone = [true(url=f"/item/{n}", urls=[f"/item/{n}"], spans=spans, state="gone") for n in range(20)]
    stored = {each.url: right(id=n) for n, each in enumerate(gone)}
    at_once = watching(looks=[day(7.5), day(7.75)])
    assert audit(gone, stored, at_once).broken == {}
    assert len(audit(gone[:19], stored, at_once).broken[AuditRule.STILL_ACTIVE]) == 19
    assert len(audit(gone, stored, watching()).broken[AuditRule.STILL_ACTIVE]) == 20


def test_one_that_left_the_lists_is_still_alive() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "unlisted", None)]
    hidden = true(spans=spans, state="unlisted")
    assert broken(hidden, right()) == []
    assert broken(hidden, right(active=False)) == [AuditRule.INACTIVE]
    assert broken(hidden, right(against=[(day(8), day(8.01), "gone")])) == [AuditRule.WRONGLY_GONE]


def test_one_that_left_the_lists_may_expire_where_its_page_cannot_be_read() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "unlisted", None)]
    expired = right(active=False, against=[(day(8), day(8.01), "expired")])
    assert broken(true(spans=spans, state="unlisted", markup="js"), expired) == []
    assert broken(true(spans=spans, state="unlisted"), expired) == [
        AuditRule.WRONGLY_GONE,
        AuditRule.INACTIVE,
    ]
    assert broken(true(markup="js"), expired) == [AuditRule.WRONGLY_GONE, AuditRule.INACTIVE]


def test_what_was_gone_and_came_back_a_moment_ago_may_expire():
    """Nothing could tell it: the next sweep will."""
    spans = [
        (day(1), day(7), "on_sale", None),
        (day(7), day(7.9), "gone", "404"),
        (day(7.9), None, "on_sale", None),
    ]
    expired = right(active=False, against=[(day(8), day(8.01), "expired")])
    assert AuditRule.WRONGLY_GONE not in broken(true(spans=spans), expired)


def test_a_renamed_listing_is_the_same_one() -> None:
    renamed = true(url="/item/new", urls=["/item/one", "/item/new"])
    assert broken(renamed, right()) == []
    old = {"/item/one": right()}
    assert audit([renamed], old, watching()).broken == {}
    assert audit([renamed], old | {"/item/new": right(id=2)}, watching()).broken == {
        AuditRule.STORED_TWICE: ["/item/new as [1, 2]"]
    }


def test_a_listing_with_two_urls_is_stored_once() -> None:
    guest = true(other_urls=["/item/toys/one"])
    both = {"/item/one": right(), "/item/toys/one": right(id=2)}
    assert list(audit([guest], both, watching()).broken) == [AuditRule.STORED_TWICE]
    assert audit([guest], {"/item/toys/one": right()}, watching()).broken == {}


# Cards and pages that show less than everything


def test_a_price_that_no_card_showed_need_not_be_known() -> None:
    quiet = true(shown=[shown(0, 4), shown(4, card_price=False)])
    old = right(price_cents=100, ages=[age(3.9, 100)], history=[row(1, 100)])
    assert broken(quiet, old) == []
    assert broken(true(), old) == [AuditRule.NO_ROW, AuditRule.STALE]


def test_a_stale_price_is_noticed() -> None:
    stale = right(price_cents=100, ages=[age(3, 100)])
    assert broken(true(), stale) == [AuditRule.STALE]


def test_a_price_that_was_refreshed_by_a_card_without_one_is_noticed() -> None:
    quiet = true(prices=[(day(0), 100)], price=100, shown=[shown(0, 4), shown(4, card_price=False)])
    kept = {"price_cents": 100, "history": [row(1, 100)]}
    assert broken(quiet, right(**kept, ages=[age(3.9, 100), age(5.1, 100)])) == [AuditRule.WRONG_AGE]
    assert broken(quiet, right(**kept, ages=[age(3.9, 100), age(5.1, 100, read=4.5)])) == [
        AuditRule.WRONG_AGE
    ]
    assert broken(quiet, right(**kept, ages=[age(3.9, 100), age(5.1, 100, read=5.1)])) == []


def test_an_ambiguous_page_beside_a_silent_card_shows_no_price() -> None:
    ambiguous = true(shown=[shown(0, 3), shown(3, card_price=False, page_price=False)])
    assert broken(ambiguous, right()) == [AuditRule.NEVER_SHOWN, AuditRule.WRONG_AGE]


def test_the_currency_is_part_of_a_price() -> None:
    dinar = true(shown=[shown(0, 3), shown(3, currency="KWD")])
    stored = right(
        currency="KWD",
        ages=[age(5.1, 90, "KWD")],
        history=[row(1, 100), row(3, 100, currency="KWD"), row(5, 90, currency="KWD")],
    )
    assert broken(dinar, stored) == []
    assert broken(dinar, right()) == [
        AuditRule.NO_ROW,
        AuditRule.STALE,
        AuditRule.NEVER_SHOWN,
        AuditRule.WRONG_AGE,
    ]


def test_a_stock_that_nothing_said_is_noticed() -> None:
    backorder = true(shown=[shown(0, card_stock=None, page_stock="backorder")])
    assert broken(backorder, right()) == [AuditRule.NEVER_SAID]
    assert broken(backorder, right(history=[row(1, 100, "BACKORDER"), row(5, 90, "BACKORDER")])) == []


def test_a_silent_card_does_not_say_what_the_page_would() -> None:
    silent = true(shown=[shown(0, card_stock=None)])
    assert broken(silent, right(reads=[day(1), day(5)])) == []
    assert broken(silent, right(reads=[])) == [AuditRule.NEVER_SAID]
    assert broken(true(), right(reads=[])) == []


def test_a_silent_card_may_leave_the_stock_open_or_as_it_was() -> None:
    silent = true(shown=[shown(0, 3), shown(3, card_stock=None)])
    new = true(shown=[shown(0, card_stock=None)])
    assert broken(silent, right(history=[row(1, 100), row(5, 90)])) == []
    assert broken(new, right(history=[row(1, 100, "LISTED"), row(5, 90, "LISTED")])) == []
    assert broken(true(), right(history=[row(1, 100, "LISTED"), row(5, 90)])) == [AuditRule.NEVER_SAID]


def test_a_listing_without_a_price_is_noticed_only_where_cards_showed_one() -> None:
    nothing = right(price_cents=None, currency=None, ages=[], history=[])
    assert AuditRule.WITHOUT_PRICE in broken(true(), nothing)
    assert broken(true(shown=[shown(0, card_price=False)]), nothing) == []


def test_what_is_only_watched_is_judged_by_its_page() -> None:
    page_only = true(shown=[shown(0, listed=False, card_price=False, card_stock=None)])
    by_page = watching(by_page=True)
    assert broken(page_only) == []
    assert broken(page_only, watched=by_page) == [AuditRule.NOT_KNOWN]
    stale = right(price_cents=100, ages=[age(3, 100, read=3)])
    assert broken(page_only, stale, watched=by_page) == [AuditRule.STALE]
    unknown = true(shown=[shown(0, listed=False, card_price=False, card_stock=None, page_stock="unknown")])
    assert broken(unknown, watched=by_page) == []


# How it runs


def test_an_offer_that_is_held_twice_is_noticed() -> None:
    held = [("bazaar", "PID:1", "AMBIGUOUS_PRICE"), ("bazaar", "PID:1", "VALIDATION_FAILED")]
    assert held_twice(held).broken == {}
    assert held_twice([*held, held[0]]).broken == {
        AuditRule.HELD_TWICE: ["2 times: bazaar PID:1 AMBIGUOUS_PRICE"]
    }


def test_a_sweep_that_is_stuck_is_noticed() -> None:
    ended = [day(n / 4) for n in range(1, 12)]
    longest = timedelta(hours=36)
    assert stuck_sweeps(ended, day(0), day(4), longest, []).broken == {}
    assert len(stuck_sweeps(ended, day(0), day(5), longest, []).broken[AuditRule.STUCK_SWEEP]) == 1
    assert stuck_sweeps(ended, day(0), day(5), longest, [(day(3), day(4))]).broken == {}
    assert len(stuck_sweeps([], day(0), day(2), longest, []).broken[AuditRule.STUCK_SWEEP]) == 1


def test_an_adapter_that_was_switched_off_is_noticed() -> None:
    assert disabled_adapters([], 540).broken == {}
    off = disabled_adapters([(day(3), "bazaar", "72% of 20 URLs failed")], 540)
    assert off.broken == {AuditRule.DISABLED: ["bazaar at 04.03. 00:00: 72% of 20 URLs failed"]}


def test_a_watched_page_that_moved_must_not_be_broken() -> None:
    moved = true(url="/item/new", urls=["/item/one", "/item/new"])
    assert lost_targets([moved], []).broken == {}
    assert list(lost_targets([moved], ["/item/one"]).broken) == [AuditRule.LOST_TARGET]
    assert lost_targets([true()], ["/item/one"]).broken == {}


def test_a_listing_that_came_back_since_the_last_sweep_may_be_inactive():
    spans = [
        (day(0), day(5.5), "on_sale", None),
        (day(5.5), day(8), "gone", "404"),
        (day(8), None, "on_sale", None),
    ]
    stored = right()
    stored.active = False
    assert broken(true(spans=spans), stored) == []
