"""The pages at a million listings and a hundred thousand runs: `python -m tests.bench web`.

Every page within 200 ms of server time; the worst one is named.
"""

from __future__ import annotations

import os
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine, text

from tests.bench.figure import Figure
from tests.bench.scale import MARKETS, NOW, fill

LISTINGS, RUNS, TARGETS, PRODUCTS = 1_000_000, 100_000, 100_000, 20_000
BAR_MS = 200.0
ROUNDS = 7

# One price for each listing and a second one for every tenth; runs of all kinds over a month, with pages.
FILL = """
INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability, run_id)
SELECT id, :now - random() * interval '60 days', price_cents + 500, 'EUR', 'IN_STOCK', 1 FROM listings;

INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability, run_id)
SELECT id, :now - random() * interval '10 hours', price_cents, 'EUR', 'IN_STOCK', 2 FROM listings
WHERE id % 10 = 0 ON CONFLICT DO NOTHING;

INSERT INTO market_listings (market_id, listing_id, first_seen_at)
SELECT market_id, id, first_seen_at FROM listings;

INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at, finished_at, status,
                  pages, cards, new_listings, price_rows, progress, reasons)
SELECT (ARRAY['discovery', 'sweep', 'verification', 'targets'])[1 + n % 4], 'm' || n % 20, 'bazaar', 'bazaar',
       :now - n * interval '30 seconds', :now - n * interval '30 seconds',
       :now - n * interval '30 seconds' + interval '20 seconds',
       CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'finished' END, 20, 600, n % 7, n % 11,
       jsonb_build_object('page', 20, 'last_page', 50, 'first_page', 1), jsonb_build_object('page/ok', 20)
FROM generate_series(:runs, 1, -1) AS n;

INSERT INTO run_pages (run_id, page, url, outcome, cards, fetched_at)
SELECT id, n, 'https://shop.example/c?page=' || n, 'ok', 30, :now
FROM runs CROSS JOIN generate_series(1, 20) AS n WHERE id % 10 = 0;

INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at, listing_id)
SELECT 'bazaar', 'bazaar', canonical_url, canonical_url, :now, id FROM listings WHERE id <= :targets;

INSERT INTO products (key, title) SELECT 'k' || n, 'Product ' || n FROM generate_series(1, :products) AS n;

UPDATE listings SET product_id = (SELECT min(id) FROM products) + id % 1000 WHERE id <= 5000;

UPDATE listings SET active = false, verification_status = 'gone', deactivated_at = :now WHERE id % 500 = 0;

INSERT INTO adapter_batches
SELECT id, 'bazaar', started_at, 30, 1, 29, 28, 1, 0, 0, 0, 0, 0.03, 0.03, 0.93, true, false, false
FROM runs WHERE id % 20 = 0;

INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, reason, observed_at)
SELECT 'bazaar', 'bazaar', '1', 'https://shop.example/' || n, 'AMBIGUOUS_PRICE', :now
FROM generate_series(1, 20000) AS n
"""
PAGES = (
    *("/listings?lowest=900000", "/listings?market=m3&lowest=900000"),
    *("/", "/listings", "/listings?q=carbon", "/listings?q=carbon+no777777", "/listings?market=m3"),
    *(
        "/listings?market=m3&q=disc+alloy",
        "/listings?state=off",
        "/listings?source=bazaar",
        "/listings?lowest=89",
    ),
    *("/listings?before=500000", "/listings/500", "/products", "/products/1", "/markets", "/markets/add"),
    *("/targets", "/targets?q=item%2F77777", "/targets/add", "/adapters", "/adapters/bazaar", "/quarantine"),
    *("/alerts", "/watch", "/audit", "/proxies", "/runs/100", "/fragments/running", "/fragments/runs/100"),
    *(f"/admin/scraper/{kind}" for kind in ("discovery", "sweep", "verification", "targets")),
    *("/admin/scraper/sweep?status=failed", "/admin/scraper/sweep?status=running", "/metrics"),
    *("/api/listings", "/api/listings?q=carbon", "/api/runs", "/api/targets", "/api/crawl/results/m3"),
)


def prepare(engine: Engine) -> None:
    with engine.begin() as connection:
        for number in range(MARKETS):
            market = {"id": f"m{number}"}
            connection.execute(
                text("INSERT INTO markets (id, source_id, display_name) VALUES (:id, 'bazaar', :id)"), market
            )
    fill(engine, 0, LISTINGS)
    given = {"now": NOW, "runs": RUNS, "targets": TARGETS, "products": PRODUCTS}
    with engine.begin() as connection:
        for statement in FILL.split(";"):
            connection.execute(text(statement), given)
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
            taken = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                answer = client.get(page)
                taken.append(1000 * (time.perf_counter() - began))
                if answer.status_code != 200:
                    raise AssertionError(f"{page} answered {answer.status_code}: {answer.text[:500]}")
            found[page] = median(taken)
    return found


def run() -> list[Figure]:
    with TemporaryDirectory(prefix="pw") as var:
        os.environ["PRICEWATCH_VAR"] = var
        os.environ.pop("DATABASE_URL", None)
        from pricewatch import clock
        from pricewatch.store.database import engine as the_engine

        clock.move(NOW - clock.now())
        the_engine.cache_clear()
        engine = the_engine()
        prepare(engine)
        found = measure()
        engine.dispose()
        the_engine.cache_clear()
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
            note=f"{page}, of {len(found)} pages at {LISTINGS:,} listings and {RUNS:,} runs",
        )
        for place, page in enumerate(worst[:5])
    ]
