"""When each spider crawls a market, and what prevents it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.market_schedule import (
    INTERVAL_SHARES,
    MarketState,
    SkipReason,
    decide_start,
    exclusion_key,
    failures_after_maintenance,
    interval,
    last_maintenance,
    next_maintenance,
    retry_after,
    spread,
    target_jobs,
)

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SEEN = {"discovery": NOW - 100 * HOUR, "sweep": NOW - 100 * HOUR, "verification": NOW - 100 * HOUR}
moments = st.integers(0, 365 * 24 * 3600).map(lambda seconds: NOW + timedelta(seconds=seconds))
TWO = {"discovery": 2}
tiers = st.sampled_from(["hot", "standard", "cool"])


@pytest.mark.parametrize(
    ("spider", "tier", "frequency", "hours"),
    [
        ("discovery", "hot", None, 0.5),
        ("discovery", "standard", None, 1),
        ("discovery", "cool", None, 2),
        ("sweep", "hot", None, 3),
        ("sweep", "cool", None, 12),
        ("verification", "hot", None, 6),
        ("verification", "standard", None, 12),
        ("verification", "cool", None, 24),
        ("verification", "cool", 48, 48),
        ("discovery", "hot", 12, 1),
    ],
)
def test_interval_depends_on_spider_and_tier(
    spider: str, tier: str, frequency: float | None, hours: float
) -> None:
    assert interval(spider, tier, frequency) == hours * HOUR


@pytest.mark.parametrize(
    ("market", "why"),
    [
        (MarketState("m", last_at=SEEN), None),
        # Runs and failures in the future: a clock was ahead.
        (MarketState("m", last_at=dict.fromkeys(SEEN, NOW + 9000 * HOUR)), None),
        (
            MarketState("m", last_at=SEEN, failures=TWO, failed_at={"discovery": NOW + 9000 * HOUR}),
            None,
        ),
        (MarketState("m", last_at=SEEN, enabled=False), SkipReason.DISABLED),
        (MarketState("m", last_at=SEEN, approved=False), SkipReason.NOT_APPROVED),
        (MarketState("m", last_at=SEEN, adapter_enabled=False), SkipReason.ADAPTER_DISABLED),
        (MarketState("m", last_at=SEEN, failures={"discovery": 3}), SkipReason.CIRCUIT_OPEN),
        # The failures of one spider do not affect the others.
        (MarketState("m", last_at=SEEN, failures={"sweep": 3}, failed_at={"sweep": NOW}), None),
        (MarketState("m", last_at=SEEN, failures={"sweep": 1}, failed_at={"sweep": NOW}), None),
        (MarketState("m", last_at=SEEN, under_way=frozenset({"discovery"})), SkipReason.UNDER_WAY),
        (MarketState("m", last_at=SEEN, under_way=frozenset({"sweep"})), None),
        (
            MarketState("m", last_at=SEEN, failures=TWO, failed_at={"discovery": NOW - timedelta(minutes=9)}),
            SkipReason.FAILED_RECENTLY,
        ),
        (
            MarketState(
                "m", last_at=SEEN, failures=TWO, failed_at={"discovery": NOW - timedelta(minutes=11)}
            ),
            None,
        ),
        (MarketState("m", last_at={**SEEN, "discovery": NOW - timedelta(minutes=59)}), SkipReason.NOT_DUE),
        (MarketState("m", last_at={**SEEN, "discovery": NOW - timedelta(minutes=60)}), None),
    ],
)
def test_discovery_is_not_started_for_these_reasons(market: MarketState, why: SkipReason | None) -> None:
    assert decide_start(market, "discovery", NOW).why == why


def test_a_new_market_is_discovered_first() -> None:
    new = MarketState("m")
    assert decide_start(new, "discovery", NOW).starts
    assert {decide_start(new, spider, NOW).why for spider in ("sweep", "verification")} == {
        SkipReason.NOTHING_KNOWN
    }
    known = MarketState("m", last_at={"discovery": NOW - timedelta(minutes=1)})
    assert decide_start(known, "sweep", NOW).starts
    assert decide_start(known, "verification", NOW).until == NOW + timedelta(minutes=59)


def test_requested_verification_starts_within_an_hour() -> None:
    last = {**SEEN, "verification": NOW - timedelta(minutes=61)}
    assert decide_start(MarketState("m", last_at=last), "verification", NOW).why == SkipReason.NOT_DUE
    assert decide_start(MarketState("m", last_at=last, handed_over=True), "verification", NOW).starts
    just_now = {**SEEN, "verification": NOW - timedelta(minutes=59)}
    assert not decide_start(MarketState("m", last_at=just_now, handed_over=True), "verification", NOW).starts


@given(tiers, st.sampled_from(list(INTERVAL_SHARES)), moments, moments)
def test_due_exactly_when_the_interval_has_passed(
    tier: str, spider: str, last: datetime, now: datetime
) -> None:
    assume(last <= now + CLOCKS_APART)
    market = MarketState("m", tier=tier, last_at={"discovery": last, "sweep": last, "verification": last})
    verdict = decide_start(market, spider, now)
    assert verdict.starts == (now - last >= interval(spider, tier))
    if verdict.until is not None:
        assert decide_start(market, spider, verdict.until).starts


@given(moments)
def test_maintenance_is_once_a_day(now: datetime) -> None:
    last = last_maintenance(now)
    assert last <= now < next_maintenance(now)
    assert next_maintenance(now) - last == timedelta(days=1)
    assert (last.hour, last.minute) == (3, 0)


@given(st.integers(0, 50))
def test_an_open_circuit_gets_exactly_one_attempt(failures: int) -> None:
    left = failures_after_maintenance(failures)
    assert left < 3
    assert left == failures or left + 1 == 3


@given(st.integers(1, 100))
def test_retry_delay_doubles_each_time(failures: int) -> None:
    assert retry_after(1) <= retry_after(failures) <= retry_after(failures + 1) <= 2 * retry_after(failures)


@given(st.floats(0, 1))
def test_spread_is_within_a_minute(chance: float) -> None:
    assert timedelta() <= spread(chance) <= timedelta(seconds=60)


@pytest.mark.parametrize(("pending", "jobs"), [(0, 0), (1, 1), (1000, 1), (1001, 2), (10_000, 4)])
def test_number_of_target_jobs_grows_with_the_queue(pending: int, jobs: int) -> None:
    assert target_jobs(pending) == jobs


def test_spiders_of_one_market_exclude_each_other() -> None:
    works = {exclusion_key(spider, {"market": "m", "trigger": "SCHEDULED"}) for spider in INTERVAL_SHARES}
    assert works == {"market m"}
    assert exclusion_key("sweep", {"market": "n"}) not in works
    assert exclusion_key("targets", {}) == exclusion_key("targets", {"trigger": "MANUAL"}) == "targets"


arguments = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4)


@given(arguments, arguments)
def test_exclusion_key_depends_on_the_arguments(one: dict[str, str], other: dict[str, str]) -> None:
    relevant = [{k: v for k, v in arguments.items() if k != "trigger"} for arguments in (one, other)]
    assert (exclusion_key("spider", one) == exclusion_key("spider", other)) == (relevant[0] == relevant[1])
