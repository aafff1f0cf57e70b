"""What a discovery run has read but not concluded from: collected page by page, committed once."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Connection, delete, text, update

from pricewatch.errors import UserError
from pricewatch.store import incoming
from pricewatch.store.batch import REFUSALS, Step, Tally, count, is_outage, refused_rows
from pricewatch.store.incoming import Row
from pricewatch.store.listings import Raced
from pricewatch.store.models import CollectedCard, Market

# One statement, so that the page is read once; what it inserts, it does not see.
_COLLECT = text("""
WITH page AS MATERIALIZED (
    SELECT card, r.* FROM jsonb_array_elements(CAST(:rows AS jsonb)) AS card,
           jsonb_to_record(card) AS r(source_id text, identity_key text, canonical_url text)
), kept AS (
    INSERT INTO collected_cards (run_id, start_page, page, identity_key, card)
    SELECT :run_id, :start_page, :page, identity_key, card FROM page
)
SELECT count(*) FROM page p
WHERE NOT EXISTS (
        SELECT FROM listings l WHERE l.source_id = p.source_id AND l.identity_key = p.identity_key)
  AND NOT EXISTS (
        SELECT FROM listings l WHERE l.source_id = p.source_id AND l.canonical_url = p.canonical_url)
  AND NOT EXISTS (
        SELECT FROM collected_cards c WHERE c.run_id = :run_id AND c.identity_key = p.identity_key)
""")

# The table is not written ahead to the log, so a crash of the server empties it; the run's row stays.
_IS_COMPLETE = text("""
SELECT cards = (SELECT count(*) FROM collected_cards WHERE run_id = :run_id) FROM runs WHERE id = :run_id
""")

# Newest first, as the site shows them: what is left over is older and can wait for the sweep.
_NEW_ONES = text("""
SELECT i.listing_id, i.url FROM incoming i
JOIN (SELECT identity_key, max(id) AS place FROM collected_cards WHERE run_id = :run_id GROUP BY 1) c
  ON c.identity_key = i.identity_key
WHERE i.is_new AND i.availability <> 'SOLD'
ORDER BY c.place LIMIT :most
""")


class CollectionLost(UserError):
    """What was collected is no longer there, so nothing can be concluded from it."""


def collect(
    connection: Connection, run_id: int, start_page: str, page: int, rows: list[Row]
) -> tuple[int, list[tuple[Row, str]]]:
    """Keep the cards of one page aside.

    Answers how many of them were not known before this run, and which ones the database does not take.
    """

    def keep(some: list[Row]) -> int:
        rows = json.dumps(some, separators=(",", ":"))
        given = {"run_id": run_id, "start_page": start_page, "page": page, "rows": rows}
        return int(connection.execute(_COLLECT, given).scalar_one())

    try:
        with connection.begin_nested():
            return keep(rows), []
    except REFUSALS as error:
        if is_outage(error):
            raise
    refused = refused_rows(connection, rows, keep)
    bad = {id(row) for row, _ in refused}
    return keep([row for row in rows if id(row) not in bad]), refused


def commit(
    connection: Connection, run_id: int, market_id: str, steps: list[Step], most_details: int
) -> tuple[Tally, list[tuple[int, str]]]:
    """Store everything that was collected, in the transaction that the caller holds, and clear it.

    Answers what that did, and the new listings whose own pages are to be read. What was collected stays in
    `incoming` until the transaction ends, for those who compare it with the rest of the market.
    """
    if not connection.execute(_IS_COMPLETE, {"run_id": run_id}).scalar():
        raise CollectionLost(
            "The database no longer has what this run collected (it must have crashed, or the run "
            "was given up): nothing was stored, and the next run starts over."
        )

    def run_steps() -> None:
        for step in steps:
            step(connection, run_id, market_id)

    def attempt(some: list[Row]) -> None:
        incoming.load(connection, some)
        run_steps()

    refused: list[tuple[Row, str]] = []
    try:
        with connection.begin_nested():
            incoming.load_collected(connection, run_id)
            run_steps()
    except REFUSALS as error:
        if is_outage(error) or isinstance(error, Raced):
            raise
        refused = refused_rows(connection, incoming.read_collected(connection, run_id), attempt)
        _forget(connection, run_id, [row["identity_key"] for row, _ in refused])
        incoming.load_collected(connection, run_id)
        run_steps()
    tally = count(connection).get(0, Tally())
    tally.refused = refused
    new_ones = connection.execute(_NEW_ONES, {"run_id": run_id, "most": most_details}).all()
    clear(connection, run_id)
    return tally, [(listing_id, url) for listing_id, url in new_ones]


def _forget(connection: Connection, run_id: int, identity_keys: list[str]) -> None:
    connection.execute(
        delete(CollectedCard).where(
            CollectedCard.run_id == run_id, CollectedCard.identity_key.in_(identity_keys)
        )
    )


def clear(connection: Connection, run_id: int) -> None:
    connection.execute(delete(CollectedCard).where(CollectedCard.run_id == run_id))


def mark_first_read(connection: Connection, market_id: str, at: datetime) -> None:
    """Every page of the market has been read once: from now on the stop rule holds."""
    connection.execute(
        update(Market).where(Market.id == market_id, Market.first_read_at.is_(None)).values(first_read_at=at)
    )
