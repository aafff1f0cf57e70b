"""`scrapy crawl targets -a url=…`: check one page now and print the result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spiders.target_runs import readable, watch


def count(world: Any, table: str) -> int:
    found: int = world.database.value(f"SELECT count(*) FROM {table}")
    return found


def test_check_prints_what_would_be_stored_and_stores_nothing(world, crawl):
    true = readable(world, 1)[0]
    # A check does not even need an approved source.
    world.database.do("UPDATE sources SET tos_approved_by = NULL")
    outcome = crawl("targets", url=world.bazaar.url + true.url)
    assert outcome.returncode == 0
    assert "would be stored" in outcome.stdout
    assert true.title in outcome.stdout
    assert f"{true.price / 100:.2f} {true.currency}" in outcome.stdout
    for table in ("listings", "price_history", "targets", "adapter_batches"):
        assert count(world, table) == 0
    run = world.database.last_run("targets")
    assert run.progress["result"]["offer"]["price_cents"] == true.price
    assert run.status == "finished"


def test_known_target_is_stored_and_new_page_on_request(world, crawl):
    known, new = readable(world, 2)
    (target_id,) = watch(world, [known])
    outcome = crawl("targets", url=world.bazaar.url + known.url + "?utm_source=mail")
    assert "  stored" in outcome.stdout
    assert world.listing(known).price_cents == known.price
    assert world.database.value("SELECT last_status FROM targets WHERE id = :id", id=target_id) == "SUCCESS"
    crawl("targets", url=world.bazaar.url + new.url, store="yes")
    assert world.listing(new).price_cents == new.price
    assert count(world, "targets") == 2
    world.bazaar.change(known.id, price=known.price * 10)
    outcome = crawl("targets", url=world.bazaar.url + known.url, store="no")
    assert "would be quarantined: VALIDATION_FAILED" in outcome.stdout
    assert count(world, "quarantine") == 0
    assert "stored so far" in outcome.stdout


@pytest.mark.proof
def test_page_without_offer_prints_why(world, crawl):
    true, gone = readable(world, 2)
    world.bazaar.fault("garble", path=true.url)
    world.bazaar.fault("status", path=gone.url, status=404)
    outcome = crawl("targets", url=world.bazaar.url + true.url)
    assert "nothing to store: PAGE_STRUCTURE_CHANGED" in outcome.stdout
    outcome = crawl("targets", url=world.bazaar.url + gone.url)
    assert "nothing to store: http_error_404" in outcome.stdout
    # Private hosts are allowed only if a source has them.
    outcome = crawl("targets", url="http://127.0.0.1:9/secret")
    assert "nothing to store: refused_address" in outcome.stdout
    # Selectors can be tried before they are stored.
    selectors = '{"price": "//main//strong", "availability": "//main//p[@data-x]"}'
    outcome = crawl("targets", url=world.bazaar.url + true.url, adapter="generic", selectors=selectors)
    assert "SELECTOR_FAILURE (availability: nothing at //main//p[@data-x])" in outcome.stdout
