"""The response times of all pages at 1 M listings: `python -m tests.bench web`.

Every page must respond within 200 ms; the slowest five are printed.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from sqlalchemy import Engine, text

from pricewatch.store.engine import database
from tests.bench.fill_listings import NOW, fill
from tests.bench.metric import Metric, rounds
from tests.bench.progress import show_progress
from tests.bench.temporary_database import temporary_database

LISTINGS = 1_000_000
LIMIT_MS = 200.0
ROUNDS = 7

# Rows in addition to those of `fill`.
MORE_ROWS = """
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
        for statement in MORE_ROWS.split(";"):
            connection.execute(text(statement), {"now": NOW})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def measure() -> dict[str, float]:
    """Return the median milliseconds of each page, from the request to the last byte."""
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
            show_progress(f"requesting {page}")
            taken = []
            for _ in range(rounds(ROUNDS)):
                began = time.perf_counter()
                response = client.get(page)
                taken.append(1000 * (time.perf_counter() - began))
                if response.status_code != 200:
                    raise AssertionError(f"{page}: status {response.status_code}: {response.text[:500]}")
            found[page] = median(taken)
    return found


def run() -> list[Metric]:
    with temporary_database():
        prepare(database.engine())
        found = measure()
    slowest = sorted(found, key=lambda page: -found[page])
    return [
        Metric(
            name="slowest page" if index == 0 else "next slowest page",
            value=found[page],
            unit="ms",
            baseline=LIMIT_MS,
            ratio=found[page] / LIMIT_MS,
            limit=1.0,
            less_is_better=True,
            note=f"{page}, of {len(found)} pages at {LISTINGS:,} listings",
        )
        for index, page in enumerate(slowest[:5])
    ]
