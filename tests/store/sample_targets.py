"""Sample targets."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.databases import Database

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

_SOURCES = """
INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)
SELECT 'shop' || n, 'shop' || n, 'adapter' || n, 'shop' || n || '.example',
       'https://shop' || n || '.example', 'Ada'
FROM generate_series(0, :sources - 1) AS n ON CONFLICT DO NOTHING
"""
_TARGETS = """
INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at, priority)
SELECT 'shop' || n % :sources, 'adapter' || n % :sources, url, url, :due, :priority
FROM (SELECT n, 'https://shop' || n % :sources || '.example/item/' || n AS url
      FROM generate_series(CAST(:first AS bigint), :first + :count - 1) AS n) AS made
"""


def make_targets(
    database: Database,
    count: int,
    *,
    sources: int = 1,
    first: int = 0,
    due: datetime | None = NOW,
    priority: int = 0,
) -> None:
    """Insert targets, distributed over sources with one adapter each."""
    database.do(_SOURCES, sources=sources)
    database.do(_TARGETS, sources=sources, first=first, count=count, due=due, priority=priority)


def states(database: Database) -> dict[str, int]:
    return dict(database.rows("SELECT queue_state, count(*) FROM targets GROUP BY 1"))
