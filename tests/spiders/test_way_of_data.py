"""The way of a card from the response to its row: which of our modules it passes, and that there are few."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.conftest import ROOT
from tests.spiders.conftest import World

# These work on each card by itself.
EACH = {
    "spiders/overview.py",
    "adapters/bazaar.py",
    "adapters/site.py",
    "adapters/site_page.py",
    "parsing/text.py",
    "parsing/url.py",
    "parsing/identity.py",
    "rules/validation.py",
    "store/incoming.py",
}
# These work on all cards of a page, or of a batch, at once.
TOGETHER = {
    "pipelines/validate.py",
    "pipelines/upsert.py",
    "pipelines/price_history.py",
    "pipelines/commit.py",
    "store/writer.py",
    "store/batch.py",
    "store/price_jump.py",
    "store/listings.py",
    "store/history.py",
}
# The page's and the run's own bookkeeping: no card is read or changed there.
BESIDE = {
    "adapters/more_pages.py",
    "adapters/page_tree.py",
    "clock.py",
    "extensions/current_run.py",
    "extensions/figures.py",
    "extensions/log_formatter.py",
    "extensions/start_items.py",
    "parsing/tree.py",
    "pipelines/base.py",
    "pipelines/checkpoint.py",
    "pipelines/details.py",
    "pipelines/drift.py",
    "pipelines/products.py",
    "rules/figures.py",
    "rules/list_end.py",
    "rules/market.py",
    "rules/sweep.py",
    "spiders/base.py",
    "spiders/start_page.py",
    "spiders/sweep.py",
    "store/commits.py",
    "store/figures.py",
    "store/markets.py",
    "store/overdue.py",
    "store/plain.py",
    "store/runs.py",
    "store/sweeps.py",
}


def calls(world: World, page_size: int) -> dict[str, int]:
    """How often functions of each module were called, for a page with this many cards."""
    world.set_market(page_size=page_size, sweep_page=None, sweep_start_page=None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spiders.tracing", world.market],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": world.database.url,
            "SCRAPY_SETTINGS_MODULE": "pricewatch.settings",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_card_passes_few_modules(world: World) -> None:
    few, many = calls(world, 10), calls(world, 40)
    assert {module for module, count in many.items() if count - few.get(module, 0) >= 30} == EACH
    assert set(many) >= EACH | TOGETHER
    assert set(many) - EACH - TOGETHER - BESIDE == set()
    assert len(EACH | TOGETHER) <= 18
