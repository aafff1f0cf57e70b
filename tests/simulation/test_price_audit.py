"""The audit of listings: prices and availability in the history."""

from __future__ import annotations

from pricewatch.simulation.audit_results import AuditRule
from tests.simulation.audit_builders import (
    coverage,
    dated,
    day,
    row,
    shown,
    stored_listing,
    truth_listing,
    violations,
)


def test_missing_price_is_reported():
    stored = stored_listing()
    stored.history.pop()
    assert violations(truth_listing(), stored) == [AuditRule.NO_ROW]


def test_price_that_was_never_shown_is_reported():
    stored = stored_listing()
    stored.history.append(row(6, 1))
    assert violations(truth_listing(), stored) == [AuditRule.PRICE_NEVER_SHOWN]


def test_old_price_stored_late_is_reported():
    stored = stored_listing()
    stored.history.append(row(6, 100))
    assert violations(truth_listing(), stored) == [AuditRule.PRICE_NEVER_SHOWN]


def test_repeated_row_is_reported():
    stored = stored_listing()
    stored.history.append(row(6, 90))
    assert violations(truth_listing(), stored) == [AuditRule.REPEATED]


def test_row_without_a_shown_price_may_repeat_the_last_price():
    sold = truth_listing(
        spans=[(day(0), day(7), "on_sale", None), (day(7), None, "sold", None)], state="sold"
    )
    stored = stored_listing(active=False)
    sold.prices.append((day(6), 80))
    stored.history.append(row(8, 90, "SOLD"))
    assert violations(sold, stored) == []
    stored.history.append(row(8.1, 85, "SOLD"))
    assert violations(sold, stored) == [AuditRule.PRICE_NEVER_SHOWN]


def test_price_that_no_card_showed_may_be_missing() -> None:
    hidden_price = truth_listing(shown=[shown(0, 4), shown(4, card_price=False)])
    old = stored_listing(price_cents=100, dated_prices=[dated(3.9, 100)], history=[row(1, 100)])
    assert violations(hidden_price, old) == []
    assert violations(truth_listing(), old) == [AuditRule.NO_ROW, AuditRule.STALE]


def test_stale_price_is_reported() -> None:
    stale = stored_listing(price_cents=100, dated_prices=[dated(3, 100)])
    assert violations(truth_listing(), stale) == [AuditRule.STALE]


def test_price_dated_by_a_card_without_price_is_reported() -> None:
    hidden_price = truth_listing(
        prices=[(day(0), 100)], price=100, shown=[shown(0, 4), shown(4, card_price=False)]
    )
    stored_price = {"price_cents": 100, "history": [row(1, 100)]}
    assert violations(
        hidden_price, stored_listing(**stored_price, dated_prices=[dated(3.9, 100), dated(5.1, 100)])
    ) == [AuditRule.WRONG_AGE]
    assert violations(
        hidden_price,
        stored_listing(**stored_price, dated_prices=[dated(3.9, 100), dated(5.1, 100, read=4.5)]),
    ) == [AuditRule.WRONG_AGE]
    assert (
        violations(
            hidden_price,
            stored_listing(**stored_price, dated_prices=[dated(3.9, 100), dated(5.1, 100, read=5.1)]),
        )
        == []
    )


def test_ambiguous_page_and_card_without_price_show_no_price() -> None:
    ambiguous = truth_listing(shown=[shown(0, 3), shown(3, card_price=False, page_price=False)])
    assert violations(ambiguous, stored_listing()) == [AuditRule.PRICE_NEVER_SHOWN, AuditRule.WRONG_AGE]


def test_price_in_another_currency_is_another_price() -> None:
    dinar = truth_listing(shown=[shown(0, 3), shown(3, currency="KWD")])
    stored = stored_listing(
        currency="KWD",
        dated_prices=[dated(5.1, 90, "KWD")],
        history=[row(1, 100), row(3, 100, currency="KWD"), row(5, 90, currency="KWD")],
    )
    assert violations(dinar, stored) == []
    assert violations(dinar, stored_listing()) == [
        AuditRule.NO_ROW,
        AuditRule.STALE,
        AuditRule.PRICE_NEVER_SHOWN,
        AuditRule.WRONG_AGE,
    ]


def test_availability_that_was_never_shown_is_reported() -> None:
    backorder = truth_listing(shown=[shown(0, card_stock=None, page_stock="backorder")])
    assert violations(backorder, stored_listing()) == [AuditRule.AVAILABILITY_NEVER_SHOWN]
    assert (
        violations(backorder, stored_listing(history=[row(1, 100, "BACKORDER"), row(5, 90, "BACKORDER")]))
        == []
    )


def test_stock_of_a_page_needs_a_read_of_the_page() -> None:
    silent = truth_listing(shown=[shown(0, card_stock=None)])
    assert violations(silent, stored_listing(page_reads=[day(1), day(5)])) == []
    assert violations(silent, stored_listing(page_reads=[])) == [AuditRule.AVAILABILITY_NEVER_SHOWN]
    assert violations(truth_listing(), stored_listing(page_reads=[])) == []


def test_card_without_stock_allows_listed_or_the_previous_availability() -> None:
    silent = truth_listing(shown=[shown(0, 3), shown(3, card_stock=None)])
    new = truth_listing(shown=[shown(0, card_stock=None)])
    assert violations(silent, stored_listing(history=[row(1, 100), row(5, 90)])) == []
    assert violations(new, stored_listing(history=[row(1, 100, "LISTED"), row(5, 90, "LISTED")])) == []
    assert violations(truth_listing(), stored_listing(history=[row(1, 100, "LISTED"), row(5, 90)])) == [
        AuditRule.AVAILABILITY_NEVER_SHOWN
    ]


def test_listing_without_price_is_reported_if_cards_showed_one() -> None:
    nothing = stored_listing(price_cents=None, currency=None, dated_prices=[], history=[])
    assert AuditRule.WITHOUT_PRICE in violations(truth_listing(), nothing)
    assert violations(truth_listing(shown=[shown(0, card_price=False)]), nothing) == []


def test_targets_are_audited_by_their_page() -> None:
    page_only = truth_listing(shown=[shown(0, listed=False, card_price=False, card_stock=None)])
    by_page = coverage(by_page=True)
    assert violations(page_only) == []
    assert violations(page_only, crawled=by_page) == [AuditRule.NOT_KNOWN]
    stale = stored_listing(price_cents=100, dated_prices=[dated(3, 100, read=3)])
    assert violations(page_only, stale, crawled=by_page) == [AuditRule.STALE]
    unknown = truth_listing(
        shown=[shown(0, listed=False, card_price=False, card_stock=None, page_stock="unknown")]
    )
    assert violations(unknown, crawled=by_page) == []
