"""How much of a site's rate budget eight processes get to use together, with the limiter in PostgreSQL."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import Any, cast

from pricewatch.bazaar.client import Bazaar
from pricewatch.store.engine.database import engine
from tests.bench.figure import Figure, rounds
from tests.bench.workplace import workplace
from tests.databases import Database
from tests.middlewares.conftest import Site
from tests.middlewares.sharing import BUDGETS, PROCESSES, share_budgets

ROUNDS = 3
BAR = 0.85


def run() -> list[Figure]:
    used: dict[str, list[float]] = {domain: [] for domain in BUDGETS}
    with workplace(), Bazaar.start(seed=5, listings=600) as bazaar:
        bazaar.raise_priority()
        for _ in range(rounds(ROUNDS)):
            site = Site(bazaar, Database(engine().url, engine()), visitor=cast("Any", None))
            site.database.do("TRUNCATE rate_limits")
            site.database.do("DELETE FROM sources WHERE id LIKE '%.%'")
            with tempfile.TemporaryDirectory(prefix="pw") as directory:
                shared = share_budgets(site, Path(directory))
            for domain, shares in used.items():
                shares.append(shared.used(domain))
    note = f"{PROCESSES} processes, one of them killed; median of {rounds(ROUNDS)}"
    return [
        Figure(f"budget used, {budget}/s", median(used[domain]) * budget, "requests/s", budget,
               median(used[domain]), BAR, note=note)
        for domain, budget in BUDGETS.items()
    ]  # fmt: skip
