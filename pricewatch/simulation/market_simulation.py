"""Simulate days of a market: move both clocks, run the spiders on their schedules, and audit the store."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from sqlalchemy import text, update

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar, HabitOrder, TruthListing
from pricewatch.parsing.url import canonical_url
from pricewatch.runs.crawl_run import run_of
from pricewatch.simulation.audit_results import AuditVerdict
from pricewatch.simulation.audited_listings import CrawlCoverage, DatedPrice
from pricewatch.simulation.habit_plan import CHANGE_LISTINGS, PREVENT_SWEEPS, REORDER_LISTS, plan
from pricewatch.simulation.listing_audit import audit_listings
from pricewatch.simulation.run_audit import audit_adapters, audit_quarantine, audit_sweeps, audit_targets
from pricewatch.simulation.stored_state import (
    audited_listings,
    broken_target_paths,
    enable_adapters,
    pending_quarantine,
    prices_since,
)
from pricewatch.simulation.time_spans import Span
from pricewatch.store.engine.database import engine
from pricewatch.store.engine.schema import ensure_partitions
from pricewatch.store.models import Market, Source
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget

INTERVALS = {
    "discovery": timedelta(hours=6),
    "sweep": timedelta(hours=3),
    "verification": timedelta(hours=6),
    "targets": timedelta(hours=12),
}
# A sweep cycle takes two runs, so that checkpoints, overlap and wrap-around are all used.
SETTINGS = {
    "SWEEP_PAGES_PER_RUN": 10,
    "SWEEP_OVERLAP_PAGES": 2,
    # Short, because hours are simulated in seconds.
    "DOWNLOAD_TIMEOUT": 0.3,
    "RETRY_FIRST_DELAY": 0.01,
    "RETRY_LONGEST_DELAY": 0.05,
}
PAGE_SIZE = 20
# The targets are of a category that is not swept. Some of them change: this many by each habit.
TARGETS_CATEGORY, TARGETS = "toys", 30
TARGETS_SCHEDULE = "0 */12 * * *"
CHANGED_TARGETS = {
    "deleted_404": 2,
    "deleted_410": 1,
    "deleted_soft": 2,
    "deleted_to_similar": 2,
    "deleted_to_category": 1,
    "deleted_unlisted": 1,
    "slug_renamed": 3,
}
# How long a listing that is gone may stay active; longer if its page redirects, or if many vanished at once.
GRACE, LONG_GRACE = timedelta(hours=30), timedelta(hours=48)
# Two strikes, in rounds that are half a day apart.
TARGETS_GRACE = timedelta(hours=24)
# A failed check is repeated in the next round, so a price shown for this many rounds must be stored.
ROUNDS_UNTIL_STORED = 3
# The longest time between complete sweeps. A cycle takes two runs, or four while the catalogue is twice as
# large, and a smaller market is accepted after two cycles with similar counts.
LONGEST_CYCLE = timedelta(hours=36)
FAULTS: list[dict[str, Any]] = [
    {"action": "status", "status": 503},
    {"action": "rate_limit", "retry_after": 0},
    {"action": "reset"},
    {"action": "captcha"},
    {"action": "hang", "seconds": 1},
    {"action": "empty"},
]


@dataclass(slots=True)
class SimulationReport:
    verdict: AuditVerdict
    runs: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    habits: list[HabitOrder] = field(default_factory=list)


class MarketSimulation:
    """A simulation of some days of one market and some targets."""

    def __init__(
        self,
        bazaar: Bazaar,
        settings: Settings,
        *,
        category: str = "bikes",
        fault_rate: float = 0.0,
        habits: Collection[str] = (),
    ):
        self.bazaar = bazaar
        self.habits = habits
        self.market_id = f"bazaar-{category}"
        self.category = category
        self.fault_rate = fault_rate
        settings.setdict(SETTINGS, priority="cmdline")
        self.runner = AsyncCrawlerRunner(settings)
        self.cycles: list[Span] = []
        self.verified_at: list[datetime] = []
        self.target_rounds: list[Span] = []
        # The prices that each run updated, because later runs update them again.
        self.dated_prices: dict[int, list[DatedPrice]] = defaultdict(list)
        self.disabled_adapters: list[tuple[datetime, str, str]] = []
        self.targets: list[TruthListing] = []
        self.runs: Counter[str] = Counter()
        self._cycle_began: datetime | None = None

    async def run(self, days: float, seed: int, progress: Callable[[float], None]) -> SimulationReport:
        """Simulate these days; `progress` is called with the finished share."""
        begins = self._prepare()
        self._inject_faults()
        rng = random.Random(seed)
        self._order_habits(begins, seed, days, rng)
        due = {spider: begins + timedelta(minutes=rng.randint(0, 60)) for spider in INTERVALS}
        ends = begins + timedelta(days=days)
        while (now := min(due.values())) < ends:
            spider = min(due, key=lambda name: due[name])
            due[spider] = now + INTERVALS[spider]
            await self._crawl(spider, now)
            progress((now - begins) / (ends - begins))
        return self._report(begins, ends)

    def _prepare(self) -> datetime:
        begins = self.bazaar.now()
        with engine().begin() as connection:
            # The database is temporary: it need not survive a power failure.
            connection.execute(text("ALTER DATABASE postgres SET synchronous_commit = off"))
            connection.execute(update(Source).where(Source.id == "bazaar").values(base_url=self.bazaar.url))
            connection.execute(update(Market).where(Market.id == self.market_id).values(page_size=PAGE_SIZE))
            for month in range(13):
                ensure_partitions(connection, begins + timedelta(days=30 * month))
            self.targets = [
                each
                for each in self.bazaar.truth(TARGETS_CATEGORY)
                if each.state == "on_sale" and each.markup != "js"
            ][:TARGETS]
            urls = [f"{self.bazaar.url}{each.url}" for each in self.targets]
            new = [NewTarget(url, canonical_url(url), schedule=TARGETS_SCHEDULE) for url in urls]
            target_rows.add(connection, new, begins, "simulate")
        engine().dispose()
        return begins

    def _inject_faults(self) -> None:
        for fault in FAULTS:
            if self.fault_rate:
                rate = self.fault_rate / len(FAULTS)
                self.bazaar.fault(path=r"^/(c|item)/", probability=rate, **fault)

    def _order_habits(self, begins: datetime, seed: int, days: float, rng: random.Random) -> None:
        """Order the planned habits; each habit that changes listings also changes some targets of its own."""
        unchanged = [each.id for each in self.targets]
        rng.shuffle(unchanged)
        for planned in plan(seed, days, self.habits):
            at = begins + timedelta(hours=planned.begins)
            when: dict[str, Any] = {"begins": at}
            if planned.hours is not None:
                when["ends"] = at + timedelta(hours=planned.hours)
            category = self.category if planned.habit in CHANGE_LISTINGS else None
            self.bazaar.habit(planned.habit, category=category, **when)
            if count := CHANGED_TARGETS.get(planned.habit):
                self.bazaar.habit(planned.habit, ids=unchanged[:count], **when)
                unchanged = unchanged[count:]

    async def _crawl(self, spider: str, at: datetime) -> None:
        self.bazaar.set_clock(at)
        clock.move(at - datetime.now(UTC))
        crawler = self.runner.create_crawler(spider)
        arguments = {} if spider == "targets" else {"market": self.market_id}
        await self.runner.crawl(crawler, trigger="SCHEDULED", **arguments)
        run = run_of(crawler)
        self.runs[f"{spider} {run.status}"] += 1
        with engine().begin() as connection:
            self.disabled_adapters += [(at, *each) for each in enable_adapters(connection)]
            for listing_id, dated in prices_since(connection, at):
                self.dated_prices[listing_id].append(dated)
        if spider == "targets" and run.status == "finished":
            self.target_rounds.append((at, clock.now()))
        if spider == "verification" and run.status == "finished":
            self.verified_at.append(at)
        if spider == "sweep":
            if crawler.spider.begins_cycle or self._cycle_began is None:  # type: ignore[union-attr]
                self._cycle_began = at
            if run.reasons["sweep/cycle_complete"]:
                self.cycles.append((self._cycle_began, clock.now()))

    def _report(self, begins: datetime, ends: datetime) -> SimulationReport:
        with engine().connect() as connection:
            stored = audited_listings(connection, "bazaar")
            pending, broken = pending_quarantine(connection), broken_target_paths(connection)
        for listing in stored.values():
            listing.dated_prices = self.dated_prices[listing.id]
            listing.page_reads = {each.read_at for each in listing.dated_prices if each.read_at is not None}
        orders = [each for each in self.bazaar.habits() if each.begins < ends]
        market = CrawlCoverage(self._undisturbed_cycles(orders), self.verified_at, GRACE, LONG_GRACE)
        last_rounds = self.target_rounds[ROUNDS_UNTIL_STORED - 1 :]
        spans = [(first[0], last[1]) for first, last in zip(self.target_rounds, last_rounds, strict=False)]
        targets = CrawlCoverage(spans, [at for at, _ in self.target_rounds], TARGETS_GRACE, by_page=True)
        targets_truth = self._targets_truth()
        verdict = audit_listings(self.bazaar.truth(self.category), stored, market)
        verdict.add(audit_listings(targets_truth, stored, targets))
        verdict.add(audit_targets(targets_truth, broken))
        verdict.add(audit_quarantine(pending))
        excused = [(each.begins, each.ends or ends) for each in orders if each.habit in PREVENT_SWEEPS]
        completed = [end for _, end in self.cycles]
        verdict.add(audit_sweeps(completed, begins, ends, LONGEST_CYCLE, excused))
        verdict.add(audit_adapters(self.disabled_adapters, self.runs.total()))
        faults = sum(rule["hits"] for rule in self.bazaar.faults())
        return SimulationReport(verdict, self.runs, faults, orders)

    def _undisturbed_cycles(self, orders: list[HabitOrder]) -> list[Span]:
        """Return the cycles during which the lists were not reordered."""
        reordered_at = [
            at
            for each in orders
            if each.habit in REORDER_LISTS
            for at in (each.begins, each.ends)
            if at is not None
        ]
        return [cycle for cycle in self.cycles if not any(cycle[0] < at <= cycle[1] for at in reordered_at)]

    def _targets_truth(self) -> list[TruthListing]:
        """Return the truth about the targets, without those that vanished and came back.

        Their target is broken and checked once a week, so nothing is guaranteed about them.
        """
        first_urls = {each.urls[0] for each in self.targets}
        truth = (each for each in self.bazaar.truth(TARGETS_CATEGORY) if each.urls[0] in first_urls)
        return [each for each in truth if each.relisted_at is None]
