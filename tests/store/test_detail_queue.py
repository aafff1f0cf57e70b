"""The query for product pages follows the rule in `rules.detail_pages`."""

from __future__ import annotations

import random
from datetime import timedelta

from pricewatch.rules.detail_pages import in_order
from pricewatch.store.writing import detail_queue
from tests.databases import Database
from tests.store.observations import MARKET, START, card, store


def test_the_query_returns_the_same_pages_as_the_rule(database: Database) -> None:
    rng = random.Random(3)
    store(database.engine, [card(number) for number in range(200)])
    for (listing_id,) in database.rows("SELECT id FROM listings"):
        due = None if rng.random() < 0.3 else START + timedelta(minutes=rng.randrange(-4000, 4000))
        database.do("UPDATE listings SET detail_due_at = :due WHERE id = :id", due=due, id=listing_id)
    known = [tuple(row) for row in database.rows("SELECT id, detail_due_at FROM listings")]
    for most in (0, 1, 50, 100, 300):
        chosen = database.call(detail_queue.next_pages, MARKET, START, most)
        assert [detail.listing_id for detail in chosen] == in_order(known, START, most)
