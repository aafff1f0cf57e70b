"""Searching titles by words: fast for common words and for rare ones, however many titles there are.

No way is good for both. A common word is soon met among the newest rows, while its index would list half of
the table; a rare one is in the index at once, while reading title after title would take minutes. The planner
would choose one way for both, as it knows rare words by a guess only. So it is asked how many rows it
expects, and where the newest ones do not fill the page after all, the index is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

LOOKED_AT = 5_000
LARGEST_ID = 2**62
# Written as the indexes have it, for a table that is called so.
MATCH = "words_of({0}.title) @@ websearch_to_tsquery('simple'::regconfig, :words)"
_NEWEST = "SELECT id FROM {table} WHERE id < :below ORDER BY id DESC LIMIT :looked_at"
_NEWEST_OF_MARKET = """
SELECT listing_id AS id FROM market_listings WHERE market_id = :market_id AND listing_id < :below
ORDER BY listing_id DESC LIMIT :looked_at
"""
_AMONG_NEWEST = """
SELECT {columns} FROM ({newest}) n JOIN {view} {name} ON {name}.id = n.id {joins}
WHERE {conditions} ORDER BY n.id DESC LIMIT :most
"""
_BY_INDEX = """
WITH found AS MATERIALIZED (SELECT {name}.id FROM {view} {name} WHERE {conditions}),
page AS (SELECT id FROM found ORDER BY id DESC LIMIT :most)
SELECT {columns} FROM page n JOIN {view} {name} ON {name}.id = n.id {joins} ORDER BY n.id DESC
"""
_EXPECTED = "EXPLAIN (FORMAT JSON) SELECT FROM {table} {name} WHERE {match}"
_ROWS = text("SELECT reltuples FROM pg_class WHERE oid = CAST(:table AS regclass)")
# Enough to remember every row that has the word: else whole pages of the table would be read again.
_MEMORY = text("SET LOCAL work_mem = '64MB'")


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """What is searched: a table with titles, or a view of it, and what is shown of each row found."""

    table: str
    view: str
    name: str
    columns: str
    joins: str = ""


def search(
    connection: Connection, searched: TitleMatch, conditions: list[str], given: dict[str, Any], most: int
) -> list[dict[str, Any]]:
    """The newest rows that fit all conditions, that of the words among them."""
    of_market = given.get("market_id") is not None
    parts = {
        "newest": _NEWEST_OF_MARKET if of_market else _NEWEST.format(table=searched.table),
        "view": searched.view,
        "name": searched.name,
        "columns": searched.columns,
        "joins": searched.joins,
        "conditions": " AND ".join(conditions),
    }
    below = given.get("before_id") or LARGEST_ID
    values = {**given, "below": below, "looked_at": LOOKED_AT, "most": most}
    if _is_common(connection, searched, given, most):
        rows = connection.execute(text(_AMONG_NEWEST.format(**parts)), values).mappings().all()
        if len(rows) == most:
            return [dict(row) for row in rows]
    connection.execute(_MEMORY)
    rows = connection.execute(text(_BY_INDEX.format(**parts)), values).mappings().all()
    return [dict(row) for row in rows]


def _is_common(connection: Connection, searched: TitleMatch, given: dict[str, Any], most: int) -> bool:
    """Whether the newest rows are likely to have so many with these words."""
    match = MATCH.format(searched.name)
    query = text(_EXPECTED.format(table=searched.table, name=searched.name, match=match))
    expected = connection.execute(query, {"words": given["words"]}).scalar_one()[0]["Plan"]["Plan Rows"]
    rows = connection.execute(_ROWS, {"table": searched.table}).scalar_one()
    return bool(expected * LOOKED_AT >= most * max(rows, 1))
