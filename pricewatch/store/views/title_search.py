"""Search in titles that is fast for common and for rare words, in tables of any size.

A common word is soon found among the newest rows, while its index entry lists half of the table. A rare word
is found at once in the index, while scanning titles would take minutes. The planner cannot choose, because it
only guesses the frequency of rare words. So the search takes the planner's estimate of the number of matches:
for a common word it scans the newest rows, and uses the index if those do not fill the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

NEWEST_ROWS = 5_000
LARGEST_ID = 2**62
# Must equal the expression of the indexes; {0} is the alias of the table.
MATCH = "words_of({0}.title) @@ websearch_to_tsquery('simple'::regconfig, :title_query)"
_NEWEST = "SELECT id FROM {table} WHERE id < :below ORDER BY id DESC LIMIT :newest_rows"
_NEWEST_OF_MARKET = """
SELECT listing_id AS id FROM market_listings WHERE market_id = :market_id AND listing_id < :below
ORDER BY listing_id DESC LIMIT :newest_rows
"""
_AMONG_NEWEST = """
SELECT {columns} FROM ({newest}) n JOIN {view} {alias} ON {alias}.id = n.id {joins}
WHERE {conditions} ORDER BY n.id DESC LIMIT :most
"""
_BY_INDEX = """
WITH found AS MATERIALIZED (SELECT {alias}.id FROM {view} {alias} WHERE {conditions}),
page AS (SELECT id FROM found ORDER BY id DESC LIMIT :most)
SELECT {columns} FROM page n JOIN {view} {alias} ON {alias}.id = n.id {joins} ORDER BY n.id DESC
"""
_ESTIMATE = "EXPLAIN (FORMAT JSON) SELECT FROM {table} {alias} WHERE {match}"
_TABLE_ROWS = text("SELECT reltuples FROM pg_class WHERE oid = CAST(:table AS regclass)")
# With less memory the bitmap of matches becomes lossy, and whole pages of the table are checked again.
_WORK_MEM = text("SET LOCAL work_mem = '64MB'")


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """The table with titles, the view that is searched, its alias, and the columns of the result."""

    table: str
    view: str
    alias: str
    columns: str
    joins: str = ""


def search(
    connection: Connection, match: TitleMatch, conditions: list[str], parameters: dict[str, Any], most: int
) -> list[dict[str, Any]]:
    """List the newest rows that meet all conditions; MATCH must be one of them."""
    of_market = parameters.get("market_id") is not None
    parts = {
        "newest": _NEWEST_OF_MARKET if of_market else _NEWEST.format(table=match.table),
        "view": match.view,
        "alias": match.alias,
        "columns": match.columns,
        "joins": match.joins,
        "conditions": " AND ".join(conditions),
    }
    below = parameters.get("before_id") or LARGEST_ID
    values = {**parameters, "below": below, "newest_rows": NEWEST_ROWS, "most": most}
    if _is_common(connection, match, parameters["title_query"], most):
        rows = connection.execute(text(_AMONG_NEWEST.format(**parts)), values).mappings().all()
        if len(rows) == most:
            return [dict(row) for row in rows]
    connection.execute(_WORK_MEM)
    rows = connection.execute(text(_BY_INDEX.format(**parts)), values).mappings().all()
    return [dict(row) for row in rows]


def _is_common(connection: Connection, match: TitleMatch, title_query: str, most: int) -> bool:
    """Whether the newest rows probably have `most` matches."""
    condition = MATCH.format(match.alias)
    query = text(_ESTIMATE.format(table=match.table, alias=match.alias, match=condition))
    estimate = connection.execute(query, {"title_query": title_query}).scalar_one()[0]["Plan"]["Plan Rows"]
    rows = connection.execute(_TABLE_ROWS, {"table": match.table}).scalar_one()
    return bool(estimate * NEWEST_ROWS >= most * max(rows, 1))
