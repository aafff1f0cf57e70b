"""The baseline for storing cards: upsert the same rows into the same tables with plain SQL."""

from __future__ import annotations

import time
from typing import Any

import psycopg2
from psycopg2.extras import Json, execute_values

COLUMNS = (
    "source_id, market_id, identity_key, url, canonical_url, title, price_cents, currency, availability,"
    " price_observed_at, platform_id, location, attributes, adapter_version, first_seen_at, last_seen_at,"
    " first_seen_run_id, last_seen_run_id"
)
BATCH = 500

UPSERT = f"""
INSERT INTO listings ({COLUMNS}) VALUES %s
ON CONFLICT (source_id, identity_key) DO UPDATE SET
    title = excluded.title, price_cents = excluded.price_cents, currency = excluded.currency,
    availability = excluded.availability, price_observed_at = excluded.price_observed_at,
    last_seen_at = excluded.last_seen_at, last_seen_run_id = excluded.last_seen_run_id
RETURNING id, price_observed_at, price_cents, currency, availability, last_seen_run_id, adapter_version
"""
APPEND = """
INSERT INTO price_history
    (listing_id, observed_at, price_cents, currency, availability, run_id, adapter_version) VALUES %s
"""


def read_rows(url: str) -> list[tuple[Any, ...]]:
    """Return the rows that a crawl has stored."""
    connection = psycopg2.connect(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {COLUMNS} FROM listings ORDER BY id")
            index = COLUMNS.split(", ").index("attributes")
            return [(*row[:index], Json(row[index]), *row[index + 1 :]) for row in cursor]
    finally:
        connection.close()


def upsert(url: str, rows: list[tuple[Any, ...]]) -> float:
    """Store the rows and return rows per second."""
    connection = psycopg2.connect(url)
    try:
        began = time.perf_counter()
        for start in range(0, len(rows), BATCH):
            with connection, connection.cursor() as cursor:
                stored = execute_values(
                    cursor, UPSERT, rows[start : start + BATCH], page_size=BATCH, fetch=True
                )
                priced = [row for row in stored if row[2] is not None]
                execute_values(cursor, APPEND, priced, page_size=BATCH)
        return len(rows) / (time.perf_counter() - began)
    finally:
        connection.close()
