"""The pages at a million listings: `python -m tests.bench web`.

Every page within 200 ms of server time; the worst one is named.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from sqlalchemy import Engine, text

from pricewatch.store.engine import database
from tests.bench.figure import Figure, rounds
from tests.bench.filling import NOW, fill
from tests.bench.progress import say
from tests.bench.workplace import workplace

LISTINGS = 1_000_000
BAR_MS = 200.0
ROUNDS = 7

# Beside what every database of the bench has.
MORE = """
UPDATE listings SET active = false, verification_status = 'gone', deactivated_at = :now WHERE id % 500 = 0;

INSERT INTO adapter_batches
SELECT id, 'bazaar', started_at, 30, 1, 29, 28, 1, 0, 0, 0, 0, 0.03, 0.03, 0.93, true, false, false
FROM runs WHERE id % 20 = 0;

INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, reason, observed_at)
SELECT 'bazaar', 'bazaar', '1', 'https://shop.example/' || n, 'AMBIGUOUS_PRICE', :now
FROM generate_series(1, 20000) AS n
"""
PAGES = (
    *("/listings?lowest=900000&currency=EUR", "/listings?market=m3&lowest=900000&currency=EUR"),
    *("/", "/listings", "/listings?q=carbon", "/listings?q=carbon+no777777", "/listings?market=m3"),
    *(
        "/listings?market=m3&q=disc+alloy",
        "/listings?state=off",
        "/listings?source=bazaar",
        "/listings?lowest=89&currency=EUR",
    ),
    *("/listings?before=500000", "/listings/500", "/products", "/products/1", "/markets", "/markets/add"),
    *("/targets", "/targets?q=item%2F77777", "/targets/add", "/adapters", "/adapters/bazaar", "/quarantine"),
    *("/alerts", "/watch", "/audit", "/proxies", "/runs/100", "/fragments/running", "/fragments/runs/100"),
    *(f"/admin/scraper/{kind}" for kind in ("discovery", "sweep", "verification", "targets")),
    *("/admin/scraper/sweep?status=failed", "/admin/scraper/sweep?status=running", "/metrics"),
    *("/api/listings", "/api/listings?q=carbon", "/api/runs", "/api/targets", "/api/crawl/results/m3"),
)


def prepare(engine: Engine) -> None:
    fill(engine, LISTINGS)
    with engine.begin() as connection:
        for statement in MORE.split(";"):
            connection.execute(text(statement), {"now": NOW})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def measure() -> dict[str, float]:
    """Median milliseconds that each page takes, from the request to the last byte."""
    import httpx
    from a2wsgi import ASGIMiddleware

    from pricewatch.web.app import create_app
    from pricewatch.web.configuration import Configuration

    found = {}
    application: Any = create_app(Configuration())
    served: Any = ASGIMiddleware(application)
    transport = httpx.WSGITransport(app=served)
    with httpx.Client(transport=transport, base_url="http://127.0.0.1") as client:
        for page in PAGES:
            say(f"asking for {page}")
            taken = []
            for _ in range(rounds(ROUNDS)):
                began = time.perf_counter()
                answer = client.get(page)
                taken.append(1000 * (time.perf_counter() - began))
                if answer.status_code != 200:
                    raise AssertionError(f"{page} answered {answer.status_code}: {answer.text[:500]}")
            found[page] = median(taken)
    return found


def run() -> list[Figure]:
    with workplace():
        prepare(database.engine())
        found = measure()
    worst = sorted(found, key=lambda page: -found[page])
    return [
        Figure(
            name="worst page" if place == 0 else "next worst page",
            value=found[page],
            unit="ms",
            baseline=BAR_MS,
            ratio=found[page] / BAR_MS,
            bar=1.0,
            less_is_better=True,
            note=f"{page}, of {len(found)} pages at {LISTINGS:,} listings",
        )
        for place, page in enumerate(worst[:5])
    ]
