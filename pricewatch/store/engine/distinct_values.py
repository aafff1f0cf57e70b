"""The distinct values of an indexed column, read by a loose index scan."""

from __future__ import annotations


def distinct(table: str, column: str) -> str:
    """Return a query for the distinct values, without NULL, of a column that is the first of an index."""
    return f"""
WITH RECURSIVE hop AS (
    (SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT next.{column} FROM {table} next WHERE next.{column} > hop.{column}
            ORDER BY next.{column} LIMIT 1)
    FROM hop WHERE hop.{column} IS NOT NULL
)
SELECT {column} FROM hop WHERE {column} IS NOT NULL
"""
