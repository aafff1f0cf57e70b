"""The share of a site's rate limit that eight processes can use, with the limiter in PostgreSQL."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import Any, cast

from pricewatch.bazaar.client import Bazaar
from pricewatch.store.engine.database import engine
from tests.bench.metric import Metric, rounds
from tests.bench.temporary_database import temporary_database
from tests.databases import Database
from tests.fetching.conftest import Site
from tests.fetching.shared_budgets import BUDGETS, PROCESSES, share_budgets

ROUNDS = 3
LIMIT = 0.85


def run() -> list[Metric]:
    used: dict[str, list[float]] = {domain: [] for domain in BUDGETS}
    with temporary_database(), Bazaar.start(seed=5, listings=600) as bazaar:
        bazaar.raise_priority()
        for _ in range(rounds(ROUNDS)):
            site = Site(bazaar, Database(engine().url, engine()), fetch_process=cast("Any", None))
            site.database.do("TRUNCATE rate_limits")
            site.database.do("DELETE FROM sources WHERE id LIKE '%.%'")
            with tempfile.TemporaryDirectory(prefix="pw") as directory:
                shared = share_budgets(site, Path(directory))
            for domain, shares in used.items():
                shares.append(shared.used(domain))
    note = f"{PROCESSES} processes, one of them killed; median of {rounds(ROUNDS)}"
    return [
        Metric(f"used rate limit, {budget}/s", median(used[domain]) * budget, "requests/s", budget,
               median(used[domain]), LIMIT, note=note)
        for domain, budget in BUDGETS.items()
    ]  # fmt: skip
