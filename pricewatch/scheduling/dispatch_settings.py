"""The dispatcher's limits and intervals, read from the project's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Any

from pricewatch.errors import UserError
from pricewatch.rules.market_schedule import MAINTENANCE_AT, MOST_TARGET_JOBS, SPREAD_SECONDS, TARGETS_PER_JOB
from pricewatch.rules.staleness import StalePrices
from pricewatch.rules.target_schedule import QueueLimits
from pricewatch.store.queues.target_queue import DefaultRate


@dataclass(frozen=True, slots=True)
class DispatchSettings:
    limits: QueueLimits = field(default_factory=QueueLimits)
    pace: DefaultRate = field(default_factory=DefaultRate)
    spread_seconds: float = SPREAD_SECONDS
    most_pending: int = 1000
    targets_per_job: int = TARGETS_PER_JOB
    most_target_jobs: int = MOST_TARGET_JOBS
    maintenance_at: time = MAINTENANCE_AT
    keep_details: timedelta = timedelta(days=30)
    keep_jobs: timedelta = timedelta(days=90)
    keep_held_pages: timedelta = timedelta(days=30)
    keep_versions: int = 20
    stale_prices: StalePrices = field(default_factory=StalePrices)

    @classmethod
    def of(cls, settings: Any) -> DispatchSettings:
        from pricewatch.runs.target_plan import limits_of, pace_of

        return cls(
            limits=limits_of(settings),
            pace=pace_of(settings),
            spread_seconds=settings.getfloat("DISPATCH_SPREAD_SECONDS"),
            most_pending=settings.getint("DISPATCH_MOST_PENDING"),
            targets_per_job=settings.getint("TARGETS_PER_RUN"),
            most_target_jobs=settings.getint("DISPATCH_MOST_TARGET_JOBS"),
            maintenance_at=_time_of_day(settings.get("MAINTENANCE_AT")),
            keep_details=timedelta(days=settings.getfloat("KEEP_RUN_DETAILS_DAYS")),
            keep_jobs=timedelta(days=settings.getfloat("KEEP_JOBS_DAYS")),
            keep_held_pages=timedelta(days=settings.getfloat("KEEP_HELD_PAGES_DAYS")),
            keep_versions=settings.getint("KEEP_VERSIONS"),
            stale_prices=StalePrices(
                hours=settings.getfloat("STALE_PRICE_HOURS"), share=settings.getfloat("STALE_PRICE_SHARE")
            ),
        )


def _time_of_day(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise UserError(f"MAINTENANCE_AT is {text!r}; it should be a time of day such as 03:00.") from None
