"""Fill databases of any size fast: with COPY, and with indexes that are created afterwards.

The number of rows that are due, queued or recent is the same at every size. The other rows grow with the
size: listings in 20 markets, one row of history each and two for every tenth, a product and a target for
every tenth listing, and years of runs.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg2 import extensions, extras
from sqlalchemy import Engine, text

from pricewatch.store.engine.schema import ensure_partitions
from tests.bench.progress import show_progress

# The present, because public listings depend on the clock of the database.
NOW = datetime.now(UTC).replace(microsecond=0)
MARKETS = 20
DUE, TO_VERIFY, UNRESOLVED = 400, 100, 100
SEARCHED = 1_000
CHUNK = 50_000
WORDS = ("trek", "canyon", "road", "gravel", "carbon", "alloy", "large", "wheel", "disc", "saddle", "city")
COLUMNS = (
    "source_id, market_id, identity_key, url, canonical_url, title, price_cents, currency, availability,"
    " price_observed_at, first_seen_at, last_seen_at, last_scraped_at, detail_due_at, active"
)
BULK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_wal_size = '16GB'")

# Dropped while the tables are filled, except the indexes of constraints.
_INDEXES = text("""
SELECT i.indexname, replace(i.indexdef, ' ON ONLY ', ' ON ') FROM pg_indexes i
WHERE i.schemaname = 'public' AND i.indexname LIKE 'ix%' AND i.tablename = ANY(:tables)
""")
_TABLES = ("listings", "market_listings", "price_history", "listing_keys", "products", "targets", "runs")
_MARKET = text("INSERT INTO markets (id, source_id, display_name) VALUES (:id, 'bazaar', :id)")
_SEARCHED = text("INSERT INTO markets (id, source_id, display_name) VALUES ('search', 'bazaar', 'search')")

# In the order of the listings, which saves sorting.
STATEMENTS = {
    "memberships": """
INSERT INTO market_listings (market_id, listing_id, first_seen_at)
SELECT market_id, id, first_seen_at FROM listings ORDER BY id""",
    "a search market": """
INSERT INTO market_listings (market_id, listing_id, first_seen_at)
SELECT 'search', id, first_seen_at FROM listings WHERE id > :due ORDER BY id LIMIT :searched""",
    "history": """
INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability, run_id)
SELECT id, first_seen_at, price_cents + 500, 'EUR', 'IN_STOCK', 1 FROM listings ORDER BY id""",
    "changes": """
INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability, run_id)
SELECT id, price_observed_at, price_cents, 'EUR', 'IN_STOCK', 2 FROM listings WHERE id % 10 = 0 ORDER BY id
ON CONFLICT DO NOTHING""",
    "products": """
INSERT INTO products (key, title)
SELECT 'words:product ' || n, 'Product ' || n FROM generate_series(1, CAST(:size AS integer) / 10) AS n""",
    "keys": """
INSERT INTO listing_keys (listing_id, fingerprint, product_key)
SELECT id, 'product ' || id / 10, 'words:product ' || id / 10 FROM listings ORDER BY id""",
    "targets": """
INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at, listing_id, status)
SELECT source_id, 'bazaar', canonical_url, canonical_url, CAST(:now AS timestamptz) + interval '3 h', id,
       CASE WHEN id < 2000 THEN 'BROKEN' ELSE 'ACTIVE' END
FROM listings WHERE id % 10 = 0 ORDER BY id""",
    "runs": """
INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at, finished_at, status,
                  pages, cards, new_listings, price_rows, progress, reasons)
SELECT (ARRAY['discovery', 'sweep', 'verification', 'targets'])[1 + n % 4], 'm' || n % 20, 'bazaar', 'bazaar',
       at, at, at + interval '20 s', CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'finished' END, 20, 600, n % 7,
       n % 11, jsonb_build_object('page', 20, 'last_page', 50, 'first_page', 1),
       jsonb_build_object('page/ok', 20)
FROM (SELECT n, CAST(:now AS timestamptz) - n * interval '30 minutes' AS at
      FROM generate_series(greatest(1000, CAST(:size AS integer) / 100), 1, -1) AS n) AS made""",
    "pages": """
INSERT INTO run_pages (run_id, page, url, outcome, cards, fetched_at)
SELECT id, n, 'https://shop.example/c?page=' || n, 'ok', 30, :now
FROM runs CROSS JOIN generate_series(1, 20) AS n WHERE id % 10 = 0""",
    "listings to verify": """
UPDATE listings SET verification_requested_at = CAST(:now AS timestamptz)
WHERE id > :due AND id <= CAST(:due AS integer) + :to_verify""",
    "listings to resolve": """
UPDATE listings SET resolve_requested_at = CAST(:now AS timestamptz), brand = 'acme', mpn = 'x' || id
WHERE id > 2 * CAST(:due AS integer) AND id <= 2 * CAST(:due AS integer) + :unresolved""",
    "links": """
UPDATE listings SET product_id = (SELECT min(id) FROM products) + id / 10
WHERE id > 2000 AND id < 6000""",
}


def lines(first: int, last: int) -> Iterator[str]:
    """Yield listings as COPY reads them: most seen recently, a few not seen for a day and never read."""
    rng = random.Random(first)
    titles = [" ".join(rng.sample(WORDS, 5)) for _ in range(997)]
    seen = [(NOW - timedelta(minutes=rng.random() * 900)).isoformat() for _ in range(991)]
    due = [NOW - timedelta(hours=rng.random() * 23) for _ in range(983)]
    read = [f"{at.isoformat()}\t{(at + timedelta(hours=24)).isoformat()}" for at in due]
    created = [(NOW - timedelta(days=1 + rng.random() * 300)).isoformat() for _ in range(977)]
    unseen = (NOW - timedelta(hours=30)).isoformat()
    for n in range(first, last):
        old, url = n < DUE, f"https://shop.example/item/{n}"
        at = unseen if old else seen[n % 991]
        yield (
            f"bazaar\tm{n % MARKETS}\tPID:{n}\t{url}\t{url}\t{titles[n % 997]} no{n}\t{n % 9000 + 100}\tEUR\t"
            f"IN_STOCK\t{at}\t{created[n % 977]}\t{at}\t"
            + (f"\\N\t\\N\t{'t'}\n" if old else f"{read[n % 983]}\t{'f' if n % 500 == 499 else 't'}\n")
        )


def copy(cursor: Any, size: int, progress: Callable[[str], None]) -> None:
    for first in range(0, size, CHUNK):
        rows = io.StringIO("".join(lines(first, min(first + CHUNK, size))))
        cursor.copy_expert(f"COPY listings ({COLUMNS}) FROM STDIN", rows)
        progress(f"{min(first + CHUNK, size):,} listings")


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt a long statement. Does not work with COPY."""
    extensions.set_wait_callback(extras.wait_select)
    try:
        yield
    finally:
        extensions.set_wait_callback(None)


def fill(engine: Engine, size: int) -> None:
    """Fill a new database."""

    def progress(step: str) -> None:
        show_progress(f"filling {size:,} listings: {step}")

    values = {"now": NOW, "size": size, "due": DUE, "searched": SEARCHED}
    values |= {"to_verify": TO_VERIFY, "unresolved": UNRESOLVED}
    with engine.begin() as connection:
        connection.execute(_MARKET, [{"id": f"m{number}"} for number in range(MARKETS)])
        connection.execute(_SEARCHED)
        connection.execute(text("UPDATE sources SET visibility = 'VISIBLE' WHERE id = 'bazaar'"))
        for months in range(11):
            ensure_partitions(connection, NOW - timedelta(days=30 * months))
        dropped = connection.execute(_INDEXES, {"tables": list(_TABLES)}).all()
        for name, _ in dropped:
            connection.execute(text(f"DROP INDEX {name}"))
        # Skip the checks of foreign keys: all generated references are valid.
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        copy(connection.connection.cursor(), size, progress)
        with interruptible():
            for name, statement in STATEMENTS.items():
                progress(name)
                connection.execute(text(statement), values)
            connection.execute(text("SET LOCAL maintenance_work_mem = '1GB'"))
            for name, definition in dropped:
                progress(name)
                connection.execute(text(definition))
    progress("VACUUM ANALYZE")
    autocommit = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with interruptible(), autocommit as connection:
        connection.execute(text("VACUUM ANALYZE"))
        connection.execute(text("CHECKPOINT"))
