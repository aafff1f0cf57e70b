"""When each spider crawls a market, why it does not yet, and which jobs must not run at the same time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.vocabulary import Tier

# The hours in which a market of each tier is covered completely once.
TIER_HOURS = {Tier.HOT: 6.0, Tier.STANDARD: 12.0, Tier.COOL: 24.0}
# The share of these hours after which each spider runs again: for a hot market every half hour, every three
# hours and every six hours.
INTERVAL_SHARES = {"discovery": 1 / 12, "sweep": 1 / 2, "verification": 1.0}
# Listings with a verification request do not wait for the whole interval.
HANDED_OVER_AFTER = timedelta(hours=1)
FAILURES_TO_OPEN = 3
FIRST_RETRY = timedelta(minutes=5)
SPREAD_SECONDS = 60.0
TARGETS_PER_JOB = 1000
MOST_TARGET_JOBS = 4
MAINTENANCE_AT = time(3)
OLDEST_PENDING = timedelta(minutes=30)


class SkipReason(StrEnum):
    """Why a spider is not started for a market now."""

    DISABLED = "disabled"
    NOT_APPROVED = "not_approved"
    ADAPTER_DISABLED = "adapter_disabled"
    CIRCUIT_OPEN = "circuit_open"
    UNDER_WAY = "under_way"
    FAILED_RECENTLY = "failed_recently"
    NOT_DUE = "not_due"
    NOTHING_KNOWN = "nothing_known"


@dataclass(frozen=True, slots=True)
class MarketState:
    """The state of a market that scheduling decisions depend on."""

    id: str
    tier: str = Tier.STANDARD
    enabled: bool = True
    approved: bool = True
    adapter_enabled: bool = True
    frequency_hours: float | None = None
    # Consecutive failures of each spider, and the time of the last one.
    failures: Mapping[str, int] = field(default_factory=dict)
    failed_at: Mapping[str, datetime | None] = field(default_factory=dict)
    # When each spider last finished successfully.
    last_at: Mapping[str, datetime | None] | None = None
    # Whether verification was requested for listings of the market.
    handed_over: bool = False
    # Spiders that have a pending or running job for this market.
    under_way: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """Start the spider (`why` is None), or why not and until when."""

    spider: str
    why: SkipReason | None = None
    until: datetime | None = None

    @property
    def starts(self) -> bool:
        return self.why is None


def interval(spider: str, tier: str, frequency_hours: float | None = None) -> timedelta:
    """Return how often this spider crawls a market of this tier or with this frequency."""
    hours = TIER_HOURS[Tier(tier)] if frequency_hours is None else frequency_hours
    return timedelta(hours=hours * INTERVAL_SHARES[spider])


def retry_after(consecutive_failures: int) -> timedelta:
    """Return how long a spider pauses after consecutive failures: doubled with each failure."""
    return FIRST_RETRY * (1 << min(max(consecutive_failures, 1) - 1, 16))


def decide_start(market: MarketState, spider: str, now: datetime) -> ScheduleDecision:
    """Decide whether to start this spider for this market now, with the first reason against it."""
    market = _without_future_times(market, now)
    if not market.enabled:
        return ScheduleDecision(spider, SkipReason.DISABLED)
    if not market.approved:
        return ScheduleDecision(spider, SkipReason.NOT_APPROVED)
    if not market.adapter_enabled:
        return ScheduleDecision(spider, SkipReason.ADAPTER_DISABLED)
    failures = market.failures.get(spider, 0)
    if failures >= FAILURES_TO_OPEN:
        return ScheduleDecision(spider, SkipReason.CIRCUIT_OPEN, next_maintenance(now))
    if spider in market.under_way:
        return ScheduleDecision(spider, SkipReason.UNDER_WAY)
    last_at = market.last_at or {}
    if spider != "discovery" and last_at.get("discovery") is None:
        # Before the first discovery there is nothing to follow and nothing to verify.
        return ScheduleDecision(spider, SkipReason.NOTHING_KNOWN)
    failed_at = market.failed_at.get(spider)
    if failures and failed_at is not None:
        retry_at = failed_at + retry_after(failures)
        if retry_at > now:
            return ScheduleDecision(spider, SkipReason.FAILED_RECENTLY, retry_at)
    due = due_at(market, spider)
    if due is not None and due > now:
        return ScheduleDecision(spider, SkipReason.NOT_DUE, due)
    return ScheduleDecision(spider)


def _without_future_times(market: MarketState, now: datetime) -> MarketState:
    """Remove timestamps in the future, which came from a clock that was ahead."""
    latest = now + CLOCKS_APART

    def past(times: Mapping[str, datetime | None]) -> dict[str, datetime | None]:
        return {spider: at for spider, at in times.items() if at is None or at <= latest}

    return replace(market, last_at=past(market.last_at or {}), failed_at=past(market.failed_at))


def due_at(market: MarketState, spider: str) -> datetime | None:
    """Return when this spider is due to crawl the market again; None if it never did."""
    last = (market.last_at or {}).get(spider)
    if last is None:
        # The first discovery has just seen every listing.
        first = (market.last_at or {}).get("discovery") if spider == "verification" else None
        return None if first is None or market.handed_over else first + HANDED_OVER_AFTER
    wait = interval(spider, market.tier, market.frequency_hours)
    if spider == "verification" and market.handed_over:
        wait = min(wait, HANDED_OVER_AFTER)
    return last + wait


def failures_after_maintenance(consecutive_failures: int) -> int:
    """Return the failure count after maintenance: an open circuit gets one attempt before it opens again."""
    return min(consecutive_failures, FAILURES_TO_OPEN - 1)


def last_maintenance(now: datetime, at: time = MAINTENANCE_AT) -> datetime:
    """Return the most recent time at which daily maintenance was due, in UTC."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today <= now else today - timedelta(days=1)


def is_maintenance_due(maintained_at: datetime, now: datetime, at: time = MAINTENANCE_AT) -> bool:
    """Return whether daily maintenance is due; a time in the future came from a clock that was ahead."""
    return maintained_at < last_maintenance(now, at) or maintained_at > now + CLOCKS_APART


def next_maintenance(now: datetime, at: time = MAINTENANCE_AT) -> datetime:
    return last_maintenance(now, at) + timedelta(days=1)


def spread(chance: float, *, seconds: float = SPREAD_SECONDS) -> timedelta:
    """Return a random delay (`chance` from 0 to 1), so that jobs that are due together start spread out."""
    return timedelta(seconds=seconds * chance)


def target_jobs(pending: int, *, per_job: int = TARGETS_PER_JOB, most: int = MOST_TARGET_JOBS) -> int:
    """Return how many jobs to run for the pending targets, up to a limit."""
    return min(-(-pending // per_job), most)


def exclusion_key(spider: str, arguments: Mapping[str, Any]) -> str:
    """Return the exclusion key of a job: two jobs with the same key never run at the same time.

    The spiders of one market exclude each other; any other spider excludes only jobs with its arguments.
    """
    market = arguments.get("market")
    if spider in INTERVAL_SHARES and market:
        return f"market {market}"
    relevant = {name: str(value) for name, value in arguments.items() if name != "trigger"}
    if not relevant:
        return spider
    digest = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()
    return f"{spider} {digest[:32]}"
