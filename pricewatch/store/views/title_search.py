"""Search for words that is fast for common and for rare words, in tables of any size.

A common word is soon found among the newest rows, while its index entry lists half of the table. A rare word
is found at once in the index, while reading every row would take minutes. The planner cannot choose, because
it only guesses the frequency of rare words. So the search takes the planner's estimate of the number of
matches: for a common word it scans the newest rows, and uses the index if those do not fill the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

NEWEST_ROWS = 5_000
LARGEST_ID = 2**62
# Must equal the expression of the index; {0} is the alias of the table.
TITLE_MATCH = "words_of({0}.title) @@ websearch_to_tsquery('simple'::regconfig, :title_query)"
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
    """The table with words, the view that is searched, its alias, the result columns and the condition."""

    table: str
    view: str
    alias: str
    columns: str
    joins: str = ""
    match: str = TITLE_MATCH


def search(
    connection: Connection, match: TitleMatch, conditions: list[str], parameters: dict[str, Any], most: int
) -> list[dict[str, Any]]:
    """List the newest rows that meet all conditions; that of `match` must be one of them."""
    if is_common(connection, match, parameters, most):
        rows = search_newest(connection, match, conditions, parameters, most)
        if len(rows) == most:
            return rows
    connection.execute(_WORK_MEM)
    query = text(_BY_INDEX.format(**_parts(match, conditions)))
    return [dict(row) for row in connection.execute(query, {**parameters, "most": most}).mappings()]


def search_newest(
    connection: Connection,
    match: TitleMatch,
    conditions: list[str],
    parameters: dict[str, Any],
    most: int,
    newest_rows: int | None = None,
) -> list[dict[str, Any]]:
    """List the rows that meet all conditions among the newest ones, of the market if there is one."""
    of_market = parameters.get("market_id") is not None
    newest = _NEWEST_OF_MARKET if of_market else _NEWEST.format(table=match.table)
    query = text(_AMONG_NEWEST.format(newest=newest, **_parts(match, conditions)))
    below = parameters.get("before_id") or LARGEST_ID
    values = {**parameters, "below": below, "newest_rows": newest_rows or NEWEST_ROWS, "most": most}
    return [dict(row) for row in connection.execute(query, values).mappings()]


def _parts(match: TitleMatch, conditions: list[str]) -> dict[str, str]:
    return {
        "view": match.view,
        "alias": match.alias,
        "columns": match.columns,
        "joins": match.joins,
        "conditions": " AND ".join(conditions),
    }


def is_common(connection: Connection, match: TitleMatch, parameters: dict[str, Any], most: int) -> bool:
    """Whether the newest rows probably have `most` matches."""
    condition = match.match.format(match.alias)
    query = text(_ESTIMATE.format(table=match.table, alias=match.alias, match=condition))
    words: dict[str, Any] = {
        name: parameters[name] for name in ("title_query", "without") if name in parameters
    }
    estimate = connection.execute(query, words).scalar_one()[0]["Plan"]["Plan Rows"]
    rows = connection.execute(_TABLE_ROWS, {"table": match.table}).scalar_one()
    return bool(estimate * NEWEST_ROWS >= most * max(rows, 1))
