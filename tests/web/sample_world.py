"""Fills a database with some days of the sample marketplace, for screenshots and manual tests.

python -m tests.web.sample_world VAR [DAYS]
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scrapy.utils.project import get_project_settings

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar


def live(var: Path, days: float, seed: int = 1) -> None:
    """Simulate these days, with occasional faults, up to the present."""
    os.environ["PRICEWATCH_VAR"] = str(var)
    os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "pricewatch.settings")
    from pricewatch.commands.simulate import run_in_reactor
    from pricewatch.simulation.market_simulation import MarketSimulation

    begins = datetime.now(UTC) - timedelta(days=days)
    with Bazaar.start(seed=seed, listings=900, start=begins) as bazaar:
        settings = get_project_settings()
        month = MarketSimulation(bazaar, settings, fault_rate=0.004)

        async def living() -> None:
            await month.run(days, seed, lambda _: None)
            await _watch_pages(month, bazaar)

        run_in_reactor(living(), settings)
    clock.move(timedelta())


async def _watch_pages(month: object, bazaar: Bazaar) -> None:
    from pricewatch.store.engine.database import engine
    from pricewatch.store.queues import target_queue, target_rows
    from pricewatch.store.queues.target_filter import TargetFilter
    from pricewatch.store.queues.target_rows import NewTarget

    runner = month.runner  # type: ignore[attr-defined]
    now = clock.now()
    urls = [f"{bazaar.url}{listing.url}" for listing in bazaar.truth("cameras") if listing.state == "on_sale"]
    with engine().begin() as connection:
        target_rows.add(
            connection, [NewTarget(url, url.replace("http:", "https:")) for url in urls[:40]], now, "demo"
        )
        target_queue.enqueue(connection, target_rows.find_ids(connection, TargetFilter(status="ACTIVE")), now)
    crawler = runner.create_crawler("targets")
    await runner.crawl(crawler)
    await asyncio.sleep(0)


if __name__ == "__main__":
    live(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10)
