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
    "adapters/site_adapter.py",
    "adapters/page_fields.py",
    "parsing/text.py",
    "parsing/url.py",
    "parsing/identity.py",
    "rules/validation.py",
    "store/writing/incoming_rows.py",
}
# These work on all cards of a page, or of a batch, at once.
TOGETHER = {
    "pipelines/validate.py",
    "pipelines/upsert.py",
    "pipelines/price_history.py",
    "pipelines/commit.py",
    "store/writing/writer.py",
    "store/writing/batch.py",
    "store/writing/held_jumps.py",
    "store/writing/listing_upsert.py",
    "store/writing/history_append.py",
}
# The page's and the run's own bookkeeping: no card is read or changed there.
BESIDE = {
    "adapters/base.py",
    "clock.py",
    "runs/crawl_run.py",
    "extensions/metrics.py",
    "extensions/log_formatter.py",
    "extensions/start_items.py",
    "parsing/pages/element_tree.py",
    "pipelines/base.py",
    "pipelines/checkpoint.py",
    "pipelines/details.py",
    "pipelines/drift.py",
    "pipelines/products.py",
    "rules/metric_names.py",
    "rules/list_end.py",
    "rules/market_membership.py",
    "rules/sweep_cycle.py",
    "spiders/base.py",
    "runs/start_page.py",
    "spiders/sweep.py",
    "store/engine/commit_tracker.py",
    "store/writing/metric_totals.py",
    "store/writing/market_rows.py",
    "store/engine/query_deadline.py",
    "store/engine/json_safe.py",
    "store/writing/run_rows.py",
    "store/writing/sweep_checkpoints.py",
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
