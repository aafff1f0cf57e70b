"""Strikes, evidence, and the guard against a site that moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.verification_outcome import (
    attempt_from_status,
    counts_against_listing,
    is_gone,
    is_mass_gone,
    strikes_after,
)
from pricewatch.vocabulary import Attempt

attempts = st.sampled_from(list(Attempt))


@pytest.mark.parametrize(
    ("status", "attempt"),
    [
        (200, Attempt.ALIVE),
        (204, Attempt.ALIVE),
        (404, Attempt.NOT_FOUND),
        (410, Attempt.NOT_FOUND),
        (301, Attempt.TROUBLE),
        (401, Attempt.TROUBLE),
        (403, Attempt.TROUBLE),
        (429, Attempt.TROUBLE),
        (500, Attempt.TROUBLE),
        (503, Attempt.TROUBLE),
    ],
)
def test_only_404_and_410_count_against_a_listing(status, attempt):
    assert attempt_from_status(status) is attempt


def test_two_strikes_need_two_runs():
    once = strikes_after(0, Attempt.NOT_FOUND, same_run=False)
    assert not is_gone(once, Attempt.NOT_FOUND)
    assert not is_gone(strikes_after(once, Attempt.NOT_FOUND, same_run=True), Attempt.NOT_FOUND)
    assert is_gone(strikes_after(once, Attempt.NOT_FOUND, same_run=False), Attempt.NOT_FOUND)


def test_page_that_says_gone_or_sold_is_conclusive():
    assert is_gone(0, Attempt.SOLD)
    assert is_gone(0, Attempt.GONE)


@given(st.lists(attempts.filter(lambda a: a not in (Attempt.GONE, Attempt.SOLD)), max_size=30))
def test_gone_only_after_two_not_found_without_alive_between(history):
    strikes = 0
    since_alive = 0
    for attempt in history:
        strikes = strikes_after(strikes, attempt, same_run=False)
        since_alive = 0 if attempt is Attempt.ALIVE else since_alive + (attempt is Attempt.NOT_FOUND)
        assert is_gone(strikes, attempt) == (since_alive >= 2)


@given(st.integers(0, 3), attempts)
def test_trouble_is_not_a_strike(strikes, attempt):
    if attempt is Attempt.TROUBLE:
        assert strikes_after(strikes, attempt, same_run=False) == strikes


def test_mass_gone_needs_twenty_checks_and_more_than_half():
    assert not is_mass_gone([Attempt.NOT_FOUND] * 19)
    assert is_mass_gone([Attempt.NOT_FOUND] * 20)
    assert not is_mass_gone([Attempt.NOT_FOUND] * 10 + [Attempt.ALIVE] * 10)
    assert is_mass_gone([Attempt.NOT_FOUND] * 11 + [Attempt.ALIVE] * 9)
    assert not is_mass_gone([Attempt.SOLD] * 40)


@pytest.mark.parametrize(
    ("vouched", "seen_since", "own_page", "in_market", "expected"),
    [
        (False, False, True, False, True),
        (False, False, True, True, True),
        # A listing in no market is known only by its targets.
        (False, False, False, False, True),
        (False, False, False, True, False),
        (True, False, True, False, False),
        (False, True, True, False, False),
    ],
)
def test_missing_page_of_a_target_counts_unless_other_evidence_exists(
    vouched: bool, seen_since: bool, own_page: bool, in_market: bool, expected: bool
) -> None:
    counts = counts_against_listing(
        vouched=vouched, seen_since=seen_since, own_page=own_page, in_market=in_market
    )
    assert counts is expected
