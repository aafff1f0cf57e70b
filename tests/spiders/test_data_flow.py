"""The modules that a card passes from the response to its row."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.spiders.conftest import World

# These process each card separately.
PER_CARD = {
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
# These process all cards of a page or batch at once.
PER_PAGE = {
    "pipelines/validate.py",
    "pipelines/upsert.py",
    "pipelines/price_history.py",
    "pipelines/commit.py",
    "store/writing/writer.py",
    "store/writing/batch.py",
    "store/writing/jump_quarantine.py",
    "store/writing/listing_upsert.py",
    "store/writing/history_append.py",
}
# These process the page or the run, not its cards.
OTHER = {
    "runs/list_end_search.py",
    "clock.py",
    "runs/crawl_run.py",
    "runs/run_counters.py",
    "extensions/metrics.py",
    "extensions/log_formatter.py",
    "extensions/start_items.py",
    "parsing/pages/element_tree.py",
    "pipelines/base.py",
    "pipelines/checkpoint.py",
    "pipelines/details.py",
    "pipelines/drift.py",
    "pipelines/products.py",
    "pipelines/source_memory.py",
    "rules/metric_names.py",
    "rules/list_end.py",
    "rules/market_membership.py",
    "rules/sweep_cycle.py",
    "parsing/pages/slow_markup.py",
    "reading/deadline.py",
    "reading/page_reader.py",
    "reading/read_limits.py",
    "spiders/base.py",
    "runs/start_page.py",
    "spiders/sweep.py",
    "store/writing/commit_tracker.py",
    "store/operations/metric_totals.py",
    "store/source_registry/market_rows.py",
    "store/engine/query_deadline.py",
    "store/engine/json_safe.py",
    "store/writing/run_rows.py",
    "store/writing/sweep_checkpoints.py",
}


def calls(world: World, page_size: int) -> dict[str, int]:
    """Return how often functions of each module were called for a page with this many cards."""
    world.set_market(page_size=page_size, sweep_page=None, sweep_start_page=None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spiders.module_calls", world.market],
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


@pytest.mark.proof
def test_a_card_passes_few_modules(world: World) -> None:
    few, many = calls(world, 10), calls(world, 40)
    assert {module for module, count in many.items() if count - few.get(module, 0) >= 30} == PER_CARD
    assert set(many) >= PER_CARD | PER_PAGE
    assert set(many) - PER_CARD - PER_PAGE - OTHER == set()
    assert len(PER_CARD | PER_PAGE) <= 18
