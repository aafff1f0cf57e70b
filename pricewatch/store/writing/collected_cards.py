"""Cards of a discovery run: collected page by page, and stored together at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, text, update

from pricewatch.errors import UserError
from pricewatch.store.models import CollectedCard, Market
from pricewatch.store.writing import incoming_rows
from pricewatch.store.writing.batch import WriteUnit
from pricewatch.store.writing.incoming_rows import Row

# One statement, so that the JSON is parsed once. It does not see the rows that it inserts.
_COLLECT = text("""
WITH page AS MATERIALIZED (
    SELECT card, r.* FROM jsonb_array_elements(CAST(:rows AS jsonb)) AS card,
           jsonb_to_record(card) AS r(source_id text, identity_key text, canonical_url text)
), inserted AS (
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

# The table is unlogged: a crash of the server empties it, and the row of the run stays.
_IS_COMPLETE = text("""
SELECT cards = (SELECT count(*) FROM collected_cards WHERE run_id = :run_id) FROM runs WHERE id = :run_id
""")

# In the order of the site, which is newest first. The sweep reads the listings beyond the limit.
_NEW_LISTINGS = text("""
SELECT i.listing_id, i.url FROM incoming i
JOIN (SELECT identity_key, max(id) AS place FROM collected_cards WHERE run_id = :run_id GROUP BY 1) c
  ON c.identity_key = i.identity_key
WHERE i.is_new AND i.availability <> 'SOLD'
ORDER BY c.place LIMIT :most
""")


class CollectionLost(UserError):
    """The collected cards have been deleted, so the run cannot store them."""


@dataclass(slots=True)
class CollectedUnit(WriteUnit):
    """All cards that a discovery run has collected. Its rows are in the database already."""

    run_id: int = 0

    @property
    def has_rows(self) -> bool:
        return True

    def load(self, connection: Connection) -> None:
        # Once refused rows have been deleted, the numbers differ.
        if not self.refused and not connection.execute(_IS_COMPLETE, {"run_id": self.run_id}).scalar():
            raise CollectionLost(
                "The database no longer has what this run collected (the server crashed, or the run was "
                "marked as stale): nothing was stored, and the next run starts over."
            )
        incoming_rows.load_collected(connection, self.run_id)

    def all_rows(self, connection: Connection) -> list[Row]:
        return incoming_rows.read_collected(connection, self.run_id)

    def leave_out(self, connection: Connection, refused: list[tuple[Row, str]]) -> None:
        self.refused += refused
        keys = [row["identity_key"] for row, _ in refused]
        connection.execute(
            delete(CollectedCard).where(
                CollectedCard.run_id == self.run_id, CollectedCard.identity_key.in_(keys)
            )
        )


def collect(connection: Connection, run_id: int, start_page: str, page: int, rows: list[Row]) -> int:
    """Collect the cards of one page; return how many of them were unknown before."""
    values = {"run_id": run_id, "start_page": start_page, "page": page}
    return int(
        connection.execute(_COLLECT, {**values, "rows": json.dumps(rows, separators=(",", ":"))}).scalar_one()
    )


def new_listings(connection: Connection, run_id: int, most: int) -> list[tuple[int, str]]:
    """Return the ids of the new listings in `incoming`, with the URLs of their product pages."""
    found = connection.execute(_NEW_LISTINGS, {"run_id": run_id, "most": most})
    return [(listing_id, url) for listing_id, url in found]


def clear(connection: Connection, run_id: int) -> None:
    connection.execute(delete(CollectedCard).where(CollectedCard.run_id == run_id))


def mark_market_read(connection: Connection, market_id: str, at: datetime) -> None:
    """Record that all pages of the market have been read once; discovery may stop early from now on."""
    connection.execute(
        update(Market).where(Market.id == market_id, Market.first_read_at.is_(None)).values(first_read_at=at)
    )
