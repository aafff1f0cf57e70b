"""When a market is crawled by which spider, why not yet, and what must not be done twice at once."""

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

# How often everything about a market has been looked at once, in hours.
TIER_HOURS = {Tier.HOT: 6.0, Tier.STANDARD: 12.0, Tier.COOL: 24.0}
# In that time discovery runs twelve times, the sweep twice and verification once: for a hot market every
# half hour, every three hours and every six hours.
SHARES = {"discovery": 1 / 12, "sweep": 1 / 2, "verification": 1.0}
# Listings that were handed over do not wait for the whole interval.
HANDED_OVER_AFTER = timedelta(hours=1)
FAILURES_TO_OPEN = 3
FIRST_RETRY = timedelta(minutes=5)
SPREAD_SECONDS = 60.0
TARGETS_PER_JOB = 1000
MOST_TARGET_JOBS = 4
MAINTENANCE_AT = time(3)
OLDEST_PENDING = timedelta(minutes=30)


class Why(StrEnum):
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
    """What the decision about a market is based on."""

    id: str
    tier: str = Tier.STANDARD
    enabled: bool = True
    approved: bool = True
    adapter_enabled: bool = True
    frequency_hours: float | None = None
    # How often each spider failed here in a row, and when it last did.
    failures: Mapping[str, int] = field(default_factory=dict)
    failed_at: Mapping[str, datetime | None] = field(default_factory=dict)
    # When each spider last came to a good end here.
    last_at: Mapping[str, datetime | None] | None = None
    # Whether listings were handed over to verification.
    handed_over: bool = False
    # Spiders with a job or a run of this market that waits or runs.
    under_way: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """Start it (no reason), or why not, and when that may change by itself."""

    spider: str
    why: Why | None = None
    until: datetime | None = None

    @property
    def starts(self) -> bool:
        return self.why is None


def interval(spider: str, tier: str, frequency_hours: float | None = None) -> timedelta:
    """How often this spider visits a market of this tier, or of a frequency of its own."""
    hours = TIER_HOURS[Tier(tier)] if frequency_hours is None else frequency_hours
    return timedelta(hours=hours * SHARES[spider])


def retry_after(consecutive_failures: int) -> timedelta:
    """How long a spider leaves a market alone after that many failures in a row: twice as long each time."""
    return FIRST_RETRY * (1 << min(max(consecutive_failures, 1) - 1, 16))


def judge(market: MarketState, spider: str, now: datetime) -> ScheduleDecision:
    """Whether this spider is to be started for this market now. The first reason against it is told."""
    market = _without_what_never_came(market, now)
    if not market.enabled:
        return ScheduleDecision(spider, Why.DISABLED)
    if not market.approved:
        return ScheduleDecision(spider, Why.NOT_APPROVED)
    if not market.adapter_enabled:
        return ScheduleDecision(spider, Why.ADAPTER_DISABLED)
    failures = market.failures.get(spider, 0)
    if failures >= FAILURES_TO_OPEN:
        return ScheduleDecision(spider, Why.CIRCUIT_OPEN, next_maintenance(now))
    if spider in market.under_way:
        return ScheduleDecision(spider, Why.UNDER_WAY)
    last_at = market.last_at or {}
    if spider != "discovery" and last_at.get("discovery") is None:
        # Before the first discovery there is nothing to follow and nothing to verify.
        return ScheduleDecision(spider, Why.NOTHING_KNOWN)
    failed_at = market.failed_at.get(spider)
    if failures and failed_at is not None:
        rested = failed_at + retry_after(failures)
        if rested > now:
            return ScheduleDecision(spider, Why.FAILED_RECENTLY, rested)
    due = due_at(market, spider)
    if due is not None and due > now:
        return ScheduleDecision(spider, Why.NOT_DUE, due)
    return ScheduleDecision(spider)


def _without_what_never_came(market: MarketState, now: datetime) -> MarketState:
    """The market without visits of a time that is still to come, from a clock that was ahead."""
    latest = now + CLOCKS_APART

    def came(times: Mapping[str, datetime | None]) -> dict[str, datetime | None]:
        return {spider: at for spider, at in times.items() if at is None or at <= latest}

    return replace(market, last_at=came(market.last_at or {}), failed_at=came(market.failed_at))


def due_at(market: MarketState, spider: str) -> datetime | None:
    """When this spider is to visit the market again; None where it never did."""
    last = (market.last_at or {}).get(spider)
    if last is None:
        # The first discovery has just looked at everything.
        first = (market.last_at or {}).get("discovery") if spider == "verification" else None
        return None if first is None or market.handed_over else first + HANDED_OVER_AFTER
    wait = interval(spider, market.tier, market.frequency_hours)
    if spider == "verification" and market.handed_over:
        wait = min(wait, HANDED_OVER_AFTER)
    return last + wait


def failures_after_maintenance(consecutive_failures: int) -> int:
    """An open circuit gets one fresh attempt: if that fails too, it is open again."""
    return min(consecutive_failures, FAILURES_TO_OPEN - 1)


def last_maintenance(now: datetime, at: time = MAINTENANCE_AT) -> datetime:
    """The last time that daily maintenance was to begin, in UTC."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today <= now else today - timedelta(days=1)


def is_maintenance_due(maintained_at: datetime, now: datetime, at: time = MAINTENANCE_AT) -> bool:
    """Once a day; what was done at a time that is still to come was done by a clock that was ahead."""
    return maintained_at < last_maintenance(now, at) or maintained_at > now + CLOCKS_APART


def next_maintenance(now: datetime, at: time = MAINTENANCE_AT) -> datetime:
    return last_maintenance(now, at) + timedelta(days=1)


def spread(chance: float, *, seconds: float = SPREAD_SECONDS) -> timedelta:
    """A random wait (`chance` from 0 to 1), so that not everything that is due begins at once."""
    return timedelta(seconds=seconds * chance)


def target_jobs(pending: int, *, per_job: int = TARGETS_PER_JOB, most: int = MOST_TARGET_JOBS) -> int:
    """How many jobs work at the queue of targets: as many as it takes, up to a limit."""
    return min(-(-pending // per_job), most)


def work_of(spider: str, arguments: Mapping[str, Any]) -> str:
    """What a job works at, in one word: two jobs with the same are never run at once.

    The spiders of one market wait for each other; anything else waits for the same spider with the same
    arguments.
    """
    market = arguments.get("market")
    if spider in SHARES and market:
        return f"market {market}"
    meant = {name: str(value) for name, value in arguments.items() if name != "trigger"}
    if not meant:
        return spider
    digest = hashlib.sha256(json.dumps(meant, sort_keys=True).encode()).hexdigest()
    return f"{spider} {digest[:32]}"
