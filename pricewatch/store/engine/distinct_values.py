"""The few values of an indexed column, read by hopping along its index, however many rows there are."""

from __future__ import annotations


def distinct(table: str, column: str) -> str:
    """A query for the values of a column that leads an index; NULL is not among them."""
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
