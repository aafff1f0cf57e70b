"""The conductor: moves both clocks, starts the spiders on their schedules, and keeps count."""

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
from pricewatch.simulation.habit_plan import EXCUSED, HAPPENINGS, REARRANGING, plan
from pricewatch.simulation.store_audit import (
    Age,
    AuditVerdict,
    Span,
    Watching,
    audit,
    disabled_adapters,
    held_twice,
    lost_targets,
    stuck_sweeps,
)
from pricewatch.simulation.stored_state import (
    ages_since,
    broken_targets,
    open_holds,
    stored_listings,
    switch_on_again,
)
from pricewatch.store.engine.database import engine
from pricewatch.store.engine.schema import ensure_partitions
from pricewatch.store.models import Market, Source
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget

EVERY = {
    "discovery": timedelta(hours=6),
    "sweep": timedelta(hours=3),
    "verification": timedelta(hours=6),
    "targets": timedelta(hours=12),
}
# A chunk is half the market, so that a cycle takes two runs: checkpoint, overlap and wrap-around all happen.
SETTINGS = {
    "SWEEP_PAGES_PER_RUN": 10,
    "SWEEP_OVERLAP_PAGES": 2,
    # Weeks go by in seconds: so must what is waited for.
    "DOWNLOAD_TIMEOUT": 0.3,
    "RETRY_FIRST_DELAY": 0.01,
    "RETRY_LONGEST_DELAY": 0.05,
}
PAGE_SIZE = 20
# Single pages that are watched, of a category that nobody sweeps; and to how many of them each thing happens.
WATCHED_CATEGORY, WATCHED = "toys", 30
WATCHED_SCHEDULE = "0 */12 * * *"
HAPPENS_TO = {
    "deleted_404": 2,
    "deleted_410": 1,
    "deleted_soft": 2,
    "deleted_to_similar": 2,
    "deleted_to_category": 1,
    "deleted_unlisted": 1,
    "slug_renamed": 3,
}
# How long it may take to notice that a listing is gone; longer where its page leads elsewhere, or where many
# vanished at once.
PATIENCE, LONG_PATIENCE = timedelta(hours=30), timedelta(hours=48)
# Two strikes of rounds that are half a day apart.
TARGET_PATIENCE = timedelta(hours=24)
# A page that fails is looked at in the next round: what it showed for so many rounds in a row is known.
ROUNDS_TO_KNOW = 3
# From one complete sweep to the next; a cycle takes two runs, four while the catalogue is twice as large, and
# a market that shrank is believed after two cycles that agree.
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


class Month:
    """Days of a market in as many seconds as the crawls need."""

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
        self.looks: list[datetime] = []
        self.rounds: list[Span] = []
        # What was said after each run of the prices that it renewed; later ones renew them again.
        self.ages: dict[int, list[Age]] = defaultdict(list)
        self.switched_off: list[tuple[datetime, str, str]] = []
        self.watched: list[TruthListing] = []
        self.runs: Counter[str] = Counter()
        self._cycle_began: datetime | None = None

    async def live(self, days: float, seed: int, progress: Callable[[float], None]) -> SimulationReport:
        begins = self._prepare()
        self._sprinkle_faults()
        chance = random.Random(seed)
        self._order_habits(begins, seed, days, chance)
        due = {spider: begins + timedelta(minutes=chance.randint(0, 60)) for spider in EVERY}
        ends = begins + timedelta(days=days)
        while (now := min(due.values())) < ends:
            spider = min(due, key=lambda name: due[name])
            due[spider] = now + EVERY[spider]
            await self._run(spider, now)
            progress((now - begins) / (ends - begins))
        return self._report(begins, ends)

    def _prepare(self) -> datetime:
        begins = self.bazaar.now()
        with engine().begin() as connection:
            # The database is thrown away afterwards: nothing in it has to survive a power failure.
            connection.execute(text("ALTER DATABASE postgres SET synchronous_commit = off"))
            connection.execute(update(Source).where(Source.id == "bazaar").values(base_url=self.bazaar.url))
            connection.execute(update(Market).where(Market.id == self.market_id).values(page_size=PAGE_SIZE))
            for month in range(13):
                ensure_partitions(connection, begins + timedelta(days=30 * month))
            self.watched = [
                each
                for each in self.bazaar.truth(WATCHED_CATEGORY)
                if each.state == "on_sale" and each.markup != "js"
            ][:WATCHED]
            urls = [f"{self.bazaar.url}{each.url}" for each in self.watched]
            new = [NewTarget(url, canonical_url(url), schedule=WATCHED_SCHEDULE) for url in urls]
            target_rows.add(connection, new, begins, "simulate")
        engine().dispose()
        return begins

    def _sprinkle_faults(self) -> None:
        for fault in FAULTS:
            if self.fault_rate:
                rate = self.fault_rate / len(FAULTS)
                self.bazaar.fault(path=r"^/(c|item)/", probability=rate, **fault)

    def _order_habits(self, begins: datetime, seed: int, days: float, chance: random.Random) -> None:
        """What happens to listings happens to some that are watched, too; each to others."""
        left = [each.id for each in self.watched]
        chance.shuffle(left)
        for planned in plan(seed, days, self.habits):
            at = begins + timedelta(hours=planned.begins)
            when: dict[str, Any] = {"begins": at}
            if planned.hours is not None:
                when["ends"] = at + timedelta(hours=planned.hours)
            category = self.category if planned.habit in HAPPENINGS else None
            self.bazaar.habit(planned.habit, category=category, **when)
            if count := HAPPENS_TO.get(planned.habit):
                self.bazaar.habit(planned.habit, ids=left[:count], **when)
                left = left[count:]

    async def _run(self, spider: str, at: datetime) -> None:
        self.bazaar.set_clock(at)
        clock.move(at - datetime.now(UTC))
        crawler = self.runner.create_crawler(spider)
        what = {} if spider == "targets" else {"market": self.market_id}
        await self.runner.crawl(crawler, trigger="SCHEDULED", **what)
        run = run_of(crawler)
        self.runs[f"{spider} {run.status}"] += 1
        with engine().begin() as connection:
            self.switched_off += [(at, *each) for each in switch_on_again(connection)]
            for listing_id, age in ages_since(connection, at):
                self.ages[listing_id].append(age)
        if spider == "targets" and run.status == "finished":
            self.rounds.append((at, clock.now()))
        if spider == "verification" and run.status == "finished":
            self.looks.append(at)
        if spider == "sweep":
            if crawler.spider.begins or self._cycle_began is None:  # type: ignore[union-attr]
                self._cycle_began = at
            if run.reasons["sweep/cycle_complete"]:
                self.cycles.append((self._cycle_began, clock.now()))

    def _report(self, begins: datetime, ends: datetime) -> SimulationReport:
        with engine().connect() as connection:
            stored = stored_listings(connection, "bazaar")
            held, broken = open_holds(connection), broken_targets(connection)
        for listing in stored.values():
            listing.ages = self.ages[listing.id]
            listing.reads = {age.read_at for age in listing.ages if age.read_at is not None}
        orders = [each for each in self.bazaar.habits() if each.begins < ends]
        swept = Watching(self._steady_cycles(orders), self.looks, PATIENCE, LONG_PATIENCE)
        last = self.rounds[ROUNDS_TO_KNOW - 1 :]
        known = [(first[0], third[1]) for first, third in zip(self.rounds, last, strict=False)]
        watched = Watching(known, [at for at, _ in self.rounds], TARGET_PATIENCE, by_page=True)
        targets_truth = self._still_the_watched()
        verdict = audit(self.bazaar.truth(self.category), stored, swept)
        verdict.add(audit(targets_truth, stored, watched))
        verdict.add(lost_targets(targets_truth, broken))
        verdict.add(held_twice(held))
        excused = [(each.begins, each.ends or ends) for each in orders if each.habit in EXCUSED]
        swept_at = [end for _, end in self.cycles]
        verdict.add(stuck_sweeps(swept_at, begins, ends, LONGEST_CYCLE, excused))
        verdict.add(disabled_adapters(self.switched_off, self.runs.total()))
        faults = sum(rule["hits"] for rule in self.bazaar.faults())
        return SimulationReport(verdict, self.runs, faults, orders)

    def _steady_cycles(self, orders: list[HabitOrder]) -> list[Span]:
        """The cycles during which nothing on the lists was moved past the sweep."""
        edges = [
            edge
            for each in orders
            if each.habit in REARRANGING
            for edge in (each.begins, each.ends)
            if edge is not None
        ]
        return [cycle for cycle in self.cycles if not any(cycle[0] < edge <= cycle[1] for edge in edges)]

    def _still_the_watched(self) -> list[TruthListing]:
        """The truth about the watched pages as it is now, but for those that vanished and came back.

        Their target is broken meanwhile and looked at once a week: nothing is promised about them.
        """
        first = {each.urls[0] for each in self.watched}
        now = (each for each in self.bazaar.truth(WATCHED_CATEGORY) if each.urls[0] in first)
        return [each for each in now if each.relisted_at is None]
