"""The audit of listings: missing, duplicate, inactive and gone listings."""

from __future__ import annotations

import pytest

from pricewatch.simulation.audit_results import AuditRule
from pricewatch.simulation.listing_audit import audit_listings
from tests.simulation.audit_builders import coverage, day, stored_listing, truth_listing, violations


def test_matching_listing_breaks_no_rule():
    assert violations(truth_listing(), stored_listing()) == []


def test_missing_listing_is_reported():
    assert violations(truth_listing()) == [AuditRule.NOT_KNOWN]


def test_listing_not_online_for_a_whole_sweep_may_be_missing():
    assert (
        violations(truth_listing(spans=[(day(2), day(3), "on_sale", None), (day(3), None, "gone", "404")]))
        == []
    )


def test_inactive_listing_that_is_online_is_reported():
    stored = stored_listing()
    stored.active = False
    assert violations(truth_listing(), stored) == [AuditRule.INACTIVE]


def test_wrong_verification_is_reported_even_if_the_listing_is_active_again():
    stored = stored_listing()
    stored.gone_checks.append((day(6), day(6.01), "gone"))
    assert violations(truth_listing(), stored) == [AuditRule.WRONGLY_GONE]


def test_listing_that_came_back_during_the_check_may_be_found_gone():
    spans = [
        (day(0), day(5.5), "on_sale", None),
        (day(5.5), day(6), "gone", "404"),
        (day(6), None, "on_sale", None),
    ]
    stored = stored_listing()
    stored.gone_checks.append((day(5.9), day(6.1), "gone"))
    assert violations(truth_listing(spans=spans), stored) == []


def test_active_listing_that_is_gone_is_reported():
    gone = truth_listing(
        spans=[(day(0), day(6), "on_sale", None), (day(6), None, "gone", "404")], state="gone"
    )
    assert violations(gone, stored_listing()) == [AuditRule.STILL_ACTIVE]


@pytest.mark.parametrize("mode", ["to_similar", "to_category"])
def test_redirecting_page_has_the_long_grace(mode: str) -> None:
    gone = truth_listing(
        spans=[(day(0), day(6), "on_sale", None), (day(6), None, "gone", mode)], state="gone"
    )
    before_long_grace = coverage(check_times=[day(7.5), day(7.75)])
    assert violations(gone, stored_listing(), crawled=before_long_grace) == []
    assert violations(gone, stored_listing()) == [AuditRule.STILL_ACTIVE]
    assert violations(gone, stored_listing(), crawled=coverage(long_grace=None)) == []


def test_many_listings_that_vanish_at_once_have_the_long_grace() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "gone", "404")]
    gone = [
        truth_listing(url=f"/item/{n}", urls=[f"/item/{n}"], spans=spans, state="gone") for n in range(20)
    ]
    stored = {each.url: stored_listing(id=n) for n, each in enumerate(gone)}
    before_long_grace = coverage(check_times=[day(7.5), day(7.75)])
    assert audit_listings(gone, stored, before_long_grace).broken == {}
    assert len(audit_listings(gone[:19], stored, before_long_grace).broken[AuditRule.STILL_ACTIVE]) == 19
    assert len(audit_listings(gone, stored, coverage()).broken[AuditRule.STILL_ACTIVE]) == 20


def test_unlisted_listing_is_still_online() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "unlisted", None)]
    hidden = truth_listing(spans=spans, state="unlisted")
    assert violations(hidden, stored_listing()) == []
    assert violations(hidden, stored_listing(active=False)) == [AuditRule.INACTIVE]
    assert violations(hidden, stored_listing(gone_checks=[(day(8), day(8.01), "gone")])) == [
        AuditRule.WRONGLY_GONE
    ]


def test_unlisted_listing_may_expire_if_its_page_needs_javascript() -> None:
    spans = [(day(0), day(6), "on_sale", None), (day(6), None, "unlisted", None)]
    expired = stored_listing(active=False, gone_checks=[(day(8), day(8.01), "expired")])
    assert violations(truth_listing(spans=spans, state="unlisted", markup="js"), expired) == []
    assert violations(truth_listing(spans=spans, state="unlisted"), expired) == [
        AuditRule.WRONGLY_GONE,
        AuditRule.INACTIVE,
    ]
    assert violations(truth_listing(markup="js"), expired) == [AuditRule.WRONGLY_GONE, AuditRule.INACTIVE]


def test_listing_that_just_came_back_may_expire():
    """No run could see it yet; the next sweep will."""
    spans = [
        (day(1), day(7), "on_sale", None),
        (day(7), day(7.9), "gone", "404"),
        (day(7.9), None, "on_sale", None),
    ]
    expired = stored_listing(active=False, gone_checks=[(day(8), day(8.01), "expired")])
    assert AuditRule.WRONGLY_GONE not in violations(truth_listing(spans=spans), expired)


def test_renamed_listing_must_not_be_stored_twice() -> None:
    renamed = truth_listing(url="/item/new", urls=["/item/one", "/item/new"])
    assert violations(renamed, stored_listing()) == []
    old = {"/item/one": stored_listing()}
    assert audit_listings([renamed], old, coverage()).broken == {}
    assert audit_listings([renamed], old | {"/item/new": stored_listing(id=2)}, coverage()).broken == {
        AuditRule.STORED_TWICE: ["/item/new as [1, 2]"]
    }


def test_listing_with_two_urls_must_not_be_stored_twice() -> None:
    in_two_categories = truth_listing(other_urls=["/item/toys/one"])
    both = {"/item/one": stored_listing(), "/item/toys/one": stored_listing(id=2)}
    assert list(audit_listings([in_two_categories], both, coverage()).broken) == [AuditRule.STORED_TWICE]
    assert audit_listings([in_two_categories], {"/item/toys/one": stored_listing()}, coverage()).broken == {}


def test_listing_that_came_back_after_the_last_sweep_may_be_inactive():
    spans = [
        (day(0), day(5.5), "on_sale", None),
        (day(5.5), day(8), "gone", "404"),
        (day(8), None, "on_sale", None),
    ]
    stored = stored_listing()
    stored.active = False
    assert violations(truth_listing(spans=spans), stored) == []
