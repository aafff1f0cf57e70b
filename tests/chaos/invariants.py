"""Guarantees that must hold at every moment, checked in the database during the run."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from tests.chaos.cluster import Cluster

# Pages before the checkpoint of a sweep that were not stored in this cycle.
_PAGES_NOT_STORED = text("""
SELECT m.id, p.page FROM markets m
CROSS JOIN LATERAL generate_series(1, m.sweep_page) AS p(page)
WHERE NOT EXISTS (
    SELECT FROM run_pages rp JOIN runs r ON r.id = rp.run_id
    WHERE r.spider = 'sweep' AND r.market_id = m.id AND rp.start_page = m.sweep_start_page
      AND rp.page = p.page AND rp.outcome IN ('ok', 'empty', 'repeated')
      AND rp.fetched_at >= m.sweep_cycle_started_at)
""")
# The listings that a cycle counted and stored; a listing may be counted twice if it moved to the next page.
_COUNTED = text("""
SELECT m.id, m.sweep_cycle_seen, count(l.id) FROM markets m
LEFT JOIN market_listings ml ON ml.market_id = m.id
LEFT JOIN listings l ON l.id = ml.listing_id AND l.last_seen_at >= m.sweep_cycle_started_at
WHERE m.sweep_page > 0 GROUP BY m.id, m.sweep_cycle_seen
""")
_HISTORY = text("SELECT listing_id, observed_at, price_cents, availability FROM price_history")
MIN_STORED_SHARE = 0.8


class InvariantMonitor:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rows: set[tuple[int, datetime, int | None, str]] = set()
        self.checkpoints = 0
        self.history_rows = 0
        self.ahead: list[str] = []
        self.late: list[str] = []
        self.lost: list[str] = []

    def check(self) -> None:
        self._cluster.call(self._check_checkpoints)
        self._check_history()

    def _check_checkpoints(self, connection: Connection) -> None:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for market_id, page in connection.execute(_PAGES_NOT_STORED):
            self.ahead.append(f"{market_id}: page {page} is before the checkpoint, but not stored")
        for market_id, counted, stored in connection.execute(_COUNTED):
            self.checkpoints += 1
            if stored < MIN_STORED_SHARE * counted:
                self.ahead.append(f"{market_id}: {counted} counted, {stored} stored")

    def _check_history(self) -> None:
        """Check that rows are only appended to the history of a listing, and never removed."""
        rows = {tuple(row) for row in self._cluster.call(lambda c: list(c.execute(_HISTORY)))}
        self.lost += [f"listing {row[0]}: {row[2]} at {row[1]}" for row in self._rows - rows]
        last: dict[int, datetime] = {}
        for listing_id, at, *_ in self._rows:
            last[listing_id] = max(at, last.get(listing_id, at))
        for listing_id, at, price, _ in rows - self._rows:
            if listing_id in last and at <= last[listing_id]:
                self.late.append(f"listing {listing_id}: {price} of {at} was added after {last[listing_id]}")
        self._rows = rows
        self.history_rows = len(rows)
