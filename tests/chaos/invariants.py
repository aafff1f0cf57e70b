"""Looks at the database again and again while things go wrong: some promises hold at every moment."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from tests.chaos.cluster import Cluster

# A checkpoint stands for pages that were stored: each of them, in this cycle.
_AHEAD = text("""
SELECT m.id, p.page FROM markets m
CROSS JOIN LATERAL generate_series(1, m.sweep_page) AS p(page)
WHERE NOT EXISTS (
    SELECT FROM run_pages rp JOIN runs r ON r.id = rp.run_id
    WHERE r.spider = 'sweep' AND r.market_id = m.id AND rp.start_page = m.sweep_start_page
      AND rp.page = p.page AND rp.outcome IN ('ok', 'empty', 'repeated')
      AND rp.fetched_at >= m.sweep_cycle_started_at)
""")
# What a cycle has counted, it has stored; some may stand on two pages, pushed down meanwhile.
_COUNTED = text("""
SELECT m.id, m.sweep_cycle_seen, count(l.id) FROM markets m
LEFT JOIN market_listings ml ON ml.market_id = m.id
LEFT JOIN listings l ON l.id = ml.listing_id AND l.last_seen_at >= m.sweep_cycle_started_at
WHERE m.sweep_page > 0 GROUP BY m.id, m.sweep_cycle_seen
""")
_HISTORY = text("SELECT listing_id, observed_at, price_cents, availability FROM price_history")
LEAST_SHARE = 0.8


class Watcher:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rows: set[tuple[int, datetime, int | None, str]] = set()
        self.looks = 0
        self.checkpoints = 0
        self.history_rows = 0
        self.ahead: list[str] = []
        self.late: list[str] = []
        self.lost: list[str] = []

    def look(self) -> None:
        self._cluster.call(self._checkpoints)
        self._history()
        self.looks += 1

    def _checkpoints(self, connection: Connection) -> None:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for market_id, page in connection.execute(_AHEAD):
            self.ahead.append(f"{market_id}: page {page} was passed and not stored")
        for market_id, counted, stored in connection.execute(_COUNTED):
            self.checkpoints += 1
            if stored < LEAST_SHARE * counted:
                self.ahead.append(f"{market_id}: {counted} counted, {stored} stored")

    def _history(self) -> None:
        """Rows come at the end of their listing's history, and never go."""
        rows = {tuple(row) for row in self._cluster.call(lambda c: list(c.execute(_HISTORY)))}
        self.lost += [f"listing {row[0]}: {row[2]} at {row[1]}" for row in self._rows - rows]
        last: dict[int, datetime] = {}
        for listing_id, at, *_ in self._rows:
            last[listing_id] = max(at, last.get(listing_id, at))
        for listing_id, at, price, _ in rows - self._rows:
            if listing_id in last and at <= last[listing_id]:
                self.late.append(f"listing {listing_id}: {price} of {at} came after {last[listing_id]}")
        self._rows = rows
        self.history_rows = len(rows)
