"""Adding, finding, listing, pausing and removing targets, and the sources created for them."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.parsing.url import canonical_url
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.store.queues.target_rows import AddedTargets, NewTarget
from pricewatch.store.source_registry import source_rows
from tests.databases import Database
from tests.store.observations import card, store
from tests.store.sample_targets import NOW, make_targets


def add(database: Database, *urls: str, **fields: Any) -> AddedTargets:
    new = [NewTarget(url, canonical_url(url), **fields) for url in urls]
    added: AddedTargets = database.call(target_rows.add, new, NOW, "Ada")
    return added


def test_urls_with_the_same_canonical_url_are_one_target(database: Database) -> None:
    first = add(database, "http://Shop.example/a/?utm_source=x&b=1", "https://shop.example/a?b=1#top")
    assert first.ids == {0: 1}
    assert add(database, "https://shop.example/a?b=1&fbclid=2").ids == {}
    assert database.call(target_rows.find, ["https://shop.example/a?b=1&ref=mail", "1"]) == [1, 1]
    for name in ("https://other.example/a", "77", "nonsense"):
        with pytest.raises(UserError):
            database.call(target_rows.find, [name])


def test_each_registrable_domain_gets_a_source(database: Database) -> None:
    added = add(
        database, "https://www.shop.co.uk/1", "https://m.shop.co.uk/2", "https://www.willhaben.at/iad/x"
    )
    assert added.sources == ["shop.co.uk", "shop.co.uk", "willhaben.at"]
    adapter = "SELECT adapter_id FROM sources WHERE id = :id"
    assert database.value(adapter, id="shop.co.uk") == "generic"
    assert database.value(adapter, id="willhaben.at") == "willhaben"
    # The sample marketplace is found by host and port, a predefined source by its domain.
    assert add(database, "http://127.0.0.1:6880/item/1").sources == ["bazaar"]
    assert add(database, "https://apartments.com/x").sources == ["apartments"]


def test_each_local_port_is_a_separate_source(database: Database) -> None:
    """Otherwise a local shop would get the adapter and the rate limit of the sample marketplace."""
    added = add(
        database,
        *("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/b", "http://localhost:8081/a"),
        "http://127.0.0.1:6880/item/1",
    )
    assert added.sources == ["127.0.0.1:8080", "127.0.0.1:8080", "localhost:8081", "bazaar"]
    shop = database.row("SELECT * FROM sources WHERE id = '127.0.0.1:8080'")
    assert (shop.adapter_id, shop.base_url, shop.domain) == ("generic", "http://127.0.0.1:8080", "127.0.0.1")
    assert shop.requests_per_second is None


def test_new_target_is_linked_to_an_existing_listing(database: Database) -> None:
    store(database.engine, [card(1)])
    database.do("UPDATE sources SET domain = 'bazaar.example' WHERE id = 'bazaar'")
    add(database, "https://bazaar.example/item/1?utm_source=x")
    assert database.value("SELECT listing_id FROM targets") == database.value("SELECT id FROM listings")
    row = database.call(target_rows.find_rows, TargetFilter(), most=5)[0]
    assert (row["price_cents"], row["currency"], row["title"]) == (1000, "EUR", "Thing 1")


def test_filters_select_targets(database: Database) -> None:
    make_targets(database, 20, sources=4)
    database.do("UPDATE targets SET status = 'BROKEN' WHERE id <= 3")
    assert database.call(target_rows.find_ids, TargetFilter(status="BROKEN")) == [1, 2, 3]
    assert database.call(target_rows.count, TargetFilter(source_id="shop0", status="ACTIVE")) == 4
    assert database.call(target_rows.find_ids, TargetFilter(contains="item/1", ids=[1, 2])) == [2]
    assert [row["id"] for row in database.call(target_rows.find_rows, TargetFilter(), most=2, after=5)] == [
        6,
        7,
    ]
    # LIKE wildcards are escaped.
    assert database.call(target_rows.count, TargetFilter(contains="%")) == 0


def test_paused_target_leaves_the_queue_and_resumed_target_is_due_at_once(database: Database) -> None:
    make_targets(database, 2)
    database.do("UPDATE targets SET queue_state = 'pending', queued_at = now(), consecutive_failures = 4")
    assert database.call(target_rows.pause, [1], NOW) == 1
    assert database.call(target_rows.pause, [1], NOW) == 0
    row = database.row("SELECT * FROM targets WHERE id = 1")
    assert (row.status, row.queue_state) == ("PAUSED", "idle")
    assert database.call(target_rows.resume, [1, 2], NOW) == 1
    row = database.row("SELECT * FROM targets WHERE id = 1")
    assert (row.status, row.consecutive_failures, row.next_due_at) == ("ACTIVE", 0, NOW)
    database.call(source_rows.withdraw_approval, "shop0", NOW)
    database.call(target_rows.pause, [2], NOW)
    database.call(target_rows.resume, [2], NOW)
    assert database.value("SELECT next_due_at FROM targets WHERE id = 2") is None


def test_quarantined_offers_outlive_their_target(database: Database) -> None:
    make_targets(database, 1)
    database.do(
        "INSERT INTO quarantine (source_id, target_id, adapter_id, adapter_version, url, reason, observed_at)"
        " VALUES ('shop0', 1, 'adapter0', '1', 'u', 'AMBIGUOUS_PRICE', now())"
    )
    assert database.call(target_rows.remove, [1, 2]) == 1
    assert database.value("SELECT target_id FROM quarantine") is None
