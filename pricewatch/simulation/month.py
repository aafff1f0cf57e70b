"""The conductor: moves both clocks, starts the spiders on their schedules, and keeps count."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from sqlalchemy import text, update

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.simulation.audit import Span, Verdict, audit, stored_listings
from pricewatch.store.database import engine
from pricewatch.store.models import Market, Source
from pricewatch.store.schema import ensure_partitions

EVERY = {"discovery": timedelta(hours=6), "sweep": timedelta(hours=3), "verification": timedelta(hours=6)}
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
FAULTS: list[dict[str, Any]] = [
    {"action": "status", "status": 503},
    {"action": "rate_limit", "retry_after": 0},
    {"action": "reset"},
    {"action": "captcha"},
    {"action": "hang", "seconds": 1},
    {"action": "empty"},
]


@dataclass(slots=True)
class Report:
    verdict: Verdict
    runs: Counter[str] = field(default_factory=Counter)
    faults: int = 0


class Month:
    """Days of a market in as many seconds as the crawls need."""

    def __init__(
        self, bazaar: Bazaar, settings: Settings, *, category: str = "bikes", fault_rate: float = 0.0
    ):
        self.bazaar = bazaar
        self.market_id = f"bazaar-{category}"
        self.category = category
        self.fault_rate = fault_rate
        settings.setdict(SETTINGS, priority="cmdline")
        self.runner = AsyncCrawlerRunner(settings)
        self.cycles: list[Span] = []
        self.looks: list[datetime] = []
        self.runs: Counter[str] = Counter()
        self._cycle_began: datetime | None = None

    async def live(self, days: float, seed: int, progress: Callable[[float], None]) -> Report:
        begins = self._prepare()
        self._sprinkle_faults()
        chance = random.Random(seed)
        due = {spider: begins + timedelta(minutes=chance.randint(0, 60)) for spider in EVERY}
        ends = begins + timedelta(days=days)
        while (now := min(due.values())) < ends:
            spider = min(due, key=lambda name: due[name])
            due[spider] = now + EVERY[spider]
            await self._run(spider, now)
            progress((now - begins) / (ends - begins))
        return self._report()

    def _prepare(self) -> datetime:
        begins = self.bazaar.now()
        with engine().begin() as connection:
            # The database is thrown away afterwards: nothing in it has to survive a power failure.
            connection.execute(text("ALTER DATABASE postgres SET synchronous_commit = off"))
            connection.execute(update(Source).where(Source.id == "bazaar").values(base_url=self.bazaar.url))
            connection.execute(update(Market).where(Market.id == self.market_id).values(page_size=PAGE_SIZE))
            for month in range(13):
                ensure_partitions(connection, begins + timedelta(days=30 * month))
        engine().dispose()
        return begins

    def _sprinkle_faults(self) -> None:
        for fault in FAULTS:
            if self.fault_rate:
                rate = self.fault_rate / len(FAULTS)
                self.bazaar.fault(path=r"^/(c|item)/", probability=rate, **fault)

    async def _run(self, spider: str, at: datetime) -> None:
        self.bazaar.set_clock(at)
        clock.move(at - datetime.now(UTC))
        crawler = self.runner.create_crawler(spider)
        await self.runner.crawl(crawler, market=self.market_id, trigger="SCHEDULED")
        run = crawler.spider.run  # type: ignore[union-attr]
        self.runs[f"{spider} {run.status}"] += 1
        if spider == "verification" and run.status == "finished":
            self.looks.append(at)
        if spider == "sweep":
            if crawler.spider.begins or self._cycle_began is None:  # type: ignore[union-attr]
                self._cycle_began = at
            if run.reasons["sweep/cycle_complete"]:
                self.cycles.append((self._cycle_began, clock.now()))

    def _report(self) -> Report:
        with engine().connect() as connection:
            stored = stored_listings(connection, "bazaar")
        verdict = audit(
            self.bazaar.truth(self.category),
            stored,
            cycles=self.cycles,
            looks=self.looks,
            patience=timedelta(hours=30),
        )
        faults = sum(rule["hits"] for rule in self.bazaar.faults())
        return Report(verdict, self.runs, faults)
