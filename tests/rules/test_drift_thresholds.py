"""Drift: the thresholds of the specification, one line each, and general properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.queued_work import EarlierChecks
from pricewatch.rules.drift_thresholds import (
    Baseline,
    DriftAlert,
    DriftBatch,
    Rates,
    Streaks,
    Unread,
    baseline_of,
    judge_batch,
    rates,
    unread,
)

FAILING, EMPTY, ZERO = DriftAlert.FAILING, DriftAlert.NOTHING_EXTRACTED, DriftAlert.ZERO_PRICE
LOW, OFF = DriftAlert.LOW_YIELD, DriftAlert.DISABLED


def batch(attempted: int, failed: int = 0, **more: Any) -> DriftBatch:
    """Return a batch whose pages were read well, except the failed ones and the exceptions in `more`."""
    read = attempted - failed - more.get("oos_no_price", 0) - more.get("availability_unknown", 0)
    extracted = more.pop("extracted", max(0, read + more.get("availability_unknown", 0)))
    return DriftBatch(attempted, failed, extracted, max(0, read), **more)


@pytest.mark.parametrize(
    ("found", "streaks", "alerts", "disabled"),
    [
        # Failure rate over 50 %, at least 20 URLs: once an alert, twice in a row disabled.
        (batch(20, 10), Streaks(), set(), False),
        (batch(20, 11), Streaks(), {FAILING}, False),
        (batch(20, 11), Streaks(failed=1), {FAILING, OFF}, True),
        (batch(19, 19), Streaks(failed=1, empty=1), set(), False),
        # Nothing extracted in two consecutive runs.
        (batch(20, 20), Streaks(), {FAILING, EMPTY}, False),
        (batch(20, 20), Streaks(empty=1), {FAILING, EMPTY, OFF}, True),
        (batch(20, 0, extracted=0), Streaks(empty=1), {EMPTY, OFF}, True),
        # Zero prices in two consecutive runs; in a small batch an alert.
        (batch(20, 0, zero_prices=1), Streaks(), {ZERO}, False),
        (batch(20, 0, zero_prices=1), Streaks(zero_price=1), {ZERO, OFF}, True),
        (batch(3, 0, zero_prices=1), Streaks(zero_price=5), {ZERO}, False),
        # Out of stock without a price never counts: not as good, not as bad, not towards the 20.
        (batch(40, 11, oos_no_price=20), Streaks(), {FAILING}, False),
        (batch(30, 10, oos_no_price=11), Streaks(failed=1), set(), False),
        (batch(500, 0, oos_no_price=500, extracted=0), Streaks(failed=1, empty=1), set(), False),
        # Unknown availability does count.
        (batch(20, 5, availability_unknown=6), Streaks(), {FAILING}, False),
        (batch(20, 5, availability_unknown=5), Streaks(), set(), False),
        # Pages that were not requested do not count.
        (batch(40, 20, not_requested=20), Streaks(failed=1), set(), False),
        (batch(39, 20, not_requested=20), Streaks(failed=1), set(), False),
        # Pages known to be unreadable do not count: the rest is too small to judge, or good.
        (batch(39, 39, known=20, known_failed=20), Streaks(failed=1, empty=1), set(), False),
        (batch(60, 30, known=30, known_failed=30), Streaks(failed=1), set(), False),
        (batch(60, 41, known=30, known_failed=20), Streaks(failed=1), {FAILING, OFF}, True),
        # A site that answers most URLs with one page is down: an alert, but no failure of the adapter.
        (batch(40, 40, same=21), Streaks(failed=1, empty=1), {FAILING}, False),
        (batch(40, 40, same=20), Streaks(failed=1, empty=1), {FAILING, EMPTY, OFF}, True),
        # Pages that were readable once count each time.
        (batch(20, 11, lasting=11, lasting_failed=11), Streaks(failed=1), {FAILING, OFF}, True),
        (batch(31, 11, lasting=11, lasting_failed=11).without_lasting(), Streaks(failed=1), set(), False),
    ],
)
def test_thresholds_alert_or_disable(
    found: DriftBatch, streaks: Streaks, alerts: set[DriftAlert], disabled: bool
) -> None:
    verdict = judge_batch(found, streaks)
    assert verdict.alerts == alerts
    assert bool(verdict.disable) == disabled
    assert verdict.is_bad == bool(alerts)


def test_a_small_batch_and_one_out_of_stock_do_not_break_a_streak() -> None:
    streaks = judge_batch(batch(20, 20), Streaks()).streaks
    assert streaks == Streaks(1, 1, 0)
    for neutral in (batch(5), batch(30, 0, oos_no_price=30)):
        verdict = judge_batch(neutral, streaks)
        assert (verdict.judged, verdict.streaks) == (False, streaks)
    assert judge_batch(batch(20, 20), streaks).disable
    assert judge_batch(batch(20), streaks).streaks == Streaks()


@pytest.mark.parametrize(
    ("rates_of_a_week", "expected"),
    [
        ([], Baseline(None, None, 0)),
        ([(0.1, 0.9), (0.3, 0.7)], Baseline(0.2, 0.8, 2)),
        ([(0.1, 0.9), (0.9, 0.1), (0.2, 0.8)], Baseline(0.2, 0.8, 3)),
    ],
)
def test_baseline_is_a_median_and_needs_three_batches(
    rates_of_a_week: Sequence[tuple[float, float]], expected: Baseline
) -> None:
    found = baseline_of(rates_of_a_week)
    assert found == expected
    assert found.is_established == (len(rates_of_a_week) >= 3)


def test_yield_far_below_the_baseline_alerts_but_disables_nothing() -> None:
    usual = Baseline(0.0, 0.9, 3)
    poor = DriftBatch(20, 0, 20, valid=8, dropped=12)
    assert judge_batch(poor, Streaks(9, 9, 9), usual).alerts == {LOW}
    assert judge_batch(poor, Streaks(), Baseline(0.0, 0.9, 2)).alerts == set()
    assert not judge_batch(poor, Streaks(), usual).is_bad


BATCHES = st.builds(
    DriftBatch,
    attempted=st.integers(0, 60),
    failed=st.integers(0, 60),
    extracted=st.integers(0, 60),
    valid=st.integers(0, 60),
    zero_prices=st.integers(0, 3),
    oos_no_price=st.integers(0, 60),
    availability_unknown=st.integers(0, 20),
    not_requested=st.integers(0, 20),
)


@given(st.lists(BATCHES, max_size=12))
def test_one_batch_disables_nothing_and_an_alert_comes_before(batches: list[DriftBatch]) -> None:
    streaks, bad_before = Streaks(), False
    for one in batches:
        verdict = judge_batch(one, streaks)
        if verdict.disable:
            assert bad_before
            assert OFF in verdict.alerts
        if verdict.judged:
            bad_before = bool(verdict.alerts)
        streaks = verdict.streaks


@given(BATCHES, st.integers(0, 100))
def test_more_pages_out_of_stock_change_nothing(one: DriftBatch, more: int) -> None:
    diluted = replace(one, attempted=one.attempted + more, oos_no_price=one.oos_no_price + more)
    if one.attempted >= one.oos_no_price + one.not_requested:
        assert judge_batch(diluted, Streaks(1, 1, 1)) == judge_batch(one, Streaks(1, 1, 1))


def test_rates_are_computed_from_counters() -> None:
    counters = {"urls_attempted": 24, "urls_failed": 5, "offers_extracted": 15, "offers_valid": 12}
    counters |= {"offers_dropped": 3, "oos_no_price_count": 4, "availability_unknown": 1}
    assert rates(counters) == Rates(failure_rate=0.3, drop_rate=0.2, yield_rate=0.6)
    assert rates({}) == Rates(None, None, None)


@pytest.mark.parametrize(
    ("earlier", "kind"),
    [
        (EarlierChecks(), Unread.NEW),
        (EarlierChecks(read=True), Unread.NEW),
        (EarlierChecks(unread_since=datetime(2026, 1, 1, tzinfo=UTC)), Unread.KNOWN),
        (EarlierChecks(read=True, unread_since=datetime(2026, 1, 1, tzinfo=UTC)), Unread.LASTING),
    ],
)
def test_unread_page_is_new_known_or_lasting(earlier: EarlierChecks, kind: Unread) -> None:
    assert unread(earlier) is kind
