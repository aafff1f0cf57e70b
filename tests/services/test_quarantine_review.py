"""Held offers: accepted or read again, by the steps that a crawl stores by, and once only."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import HtmlResponse

from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.items import Offer, ProductPage, Quarantine
from pricewatch.money import Money
from pricewatch.services import quarantine_review
from pricewatch.services.quarantine_review import Review, Reviewed
from pricewatch.store.writing import history_append, jump_quarantine, listing_upsert, quarantine_rows
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability, QuarantineReason
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, on_rows

WRITES: list[Write] = on_rows(jump_quarantine.quarantine_jumps, listing_upsert.upsert, history_append.append)
PAGE = """<html><body><main class="item" data-id="1" data-status="{state}"><h1 class="item-title">Thing 1</h1>
<section class="buy-box"><p class="item-price"><strong
class="price">{price}</strong></p></section></main></body></html>"""


def store(database: Database, rows: list[Row], run_id: int) -> None:
    unit = WriteUnit(rows)
    with database.engine.connect() as connection:
        BatchWriter(WRITES, run_id, MARKET).store(connection, [unit])
    assert unit.stored


def hold(
    database: Database,
    price: int = 5000,
    reason: QuarantineReason = QuarantineReason.AMBIGUOUS_PRICE,
    page: str = PAGE.format(price="€ 50,00", state="on_sale"),
    minutes: float = 10,
    adapter_id: str = "bazaar",
    **fields: Any,
) -> int:
    """An offer that the adapter was in doubt about."""
    made = Offer(
        url="https://bazaar.example/item/1",
        title=fields.pop("title", "Thing 1"),
        price_cents=price,
        currency="EUR",
        availability=Availability.IN_STOCK,
        source="bazaar",
        observed_at=later(minutes),
        identity_key=fields.pop("identity_key", "PID:1"),
        adapter_version="0.9.0",
        **fields,
    )
    item = ProductPage(
        offer=made,
        page=page.encode("latin-1", "xmlcharrefreplace"),
        adapter_id=adapter_id,
        encoding="latin-1",
    )
    item.quarantine = Quarantine(reason, {"why": "two prices"}, made)
    database.call(quarantine_rows.quarantine_offer, item, run_id=2, at=START)
    number: int = database.value("SELECT max(id) FROM quarantine")
    return number


def accept(database: Database, held_id: int) -> Reviewed:
    done: Reviewed = database.call(
        quarantine_review.accept, held_id, by="Ada", note="I looked", now=later(60)
    )
    return done


def replay(database: Database, held_id: int, *, apply: bool = True) -> Reviewed:
    done: Reviewed = database.call(quarantine_review.replay, held_id, by="Ada", now=later(60), apply=apply)
    return done


def rows(database: Database) -> list[tuple[Any, ...]]:
    found = database.rows("SELECT price_cents, run_type, run_id FROM price_history ORDER BY observed_at")
    return [tuple(row) for row in found]


def status(database: Database, held_id: int) -> str:
    found: str = database.value("SELECT status FROM quarantine WHERE id = :id", id=held_id)
    return found


def test_an_accepted_jump_is_stored_as_a_review_once(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 5000, later(10))], run_id=2)
    held_id = database.value("SELECT id FROM quarantine")
    done = accept(database, held_id)
    assert (done.outcome, done.known) == (Review.STORED, Money(1000, "EUR"))
    assert rows(database) == [(1000, "SCRAPE", 1), (5000, "REVIEW", 2)]
    listing = database.row("SELECT * FROM listings")
    assert (listing.price_cents, listing.price_observed_at) == (5000, later(10))
    assert listing.last_scraped_at is None
    assert accept(database, held_id).outcome is Review.NOT_WAITING
    assert len(rows(database)) == 2
    reviewed = database.row("SELECT * FROM quarantine")
    assert (reviewed.status, reviewed.reviewed_by, reviewed.note) == ("accepted", "Ada", "I looked")
    # And from now on that is the price.
    store(database, [card(1, 5100, later(20))], run_id=3)
    assert rows(database)[-1] == (5100, "SCRAPE", 3)


def test_an_offer_that_was_never_stored_becomes_a_listing(database: Database) -> None:
    held_id = hold(database, gtin="4006381333931")
    assert accept(database, held_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REVIEW", 2)]
    assert database.value("SELECT gtin FROM listings") == "4006381333931"


def test_an_old_price_never_goes_over_a_newer_one(database: Database) -> None:
    held_id = hold(database)
    store(database, [card(1, 5500, later(30))], run_id=3)
    assert accept(database, held_id).outcome is Review.OUTDATED
    assert rows(database) == [(5500, "SCRAPE", 3)]
    assert status(database, held_id) == "pending"


@pytest.mark.parametrize("bad", [{"price": 0}, {"title": ""}])
def test_what_could_never_be_stored_cannot_be_accepted(database: Database, bad: dict[str, Any]) -> None:
    held_id = hold(database, **bad)
    done = accept(database, held_id)
    assert done.outcome is Review.INVALID
    assert status(database, held_id) == "pending"
    assert rows(database) == []


def test_rejecting_twice_is_rejecting_once(database: Database) -> None:
    first, second = hold(database), hold(database, minutes=11, identity_key="PID:2")
    given = {"by": "Ada", "note": None, "now": later(60)}
    assert sorted(database.call(quarantine_rows.reject, [first, second, 999], **given)) == [first, second]
    assert database.call(quarantine_rows.reject, [first], **given) == []
    assert accept(database, first).outcome is Review.NOT_WAITING


def test_a_page_is_read_again_and_nothing_is_stored_before_that_is_wanted(database: Database) -> None:
    held_id = hold(database, price=0, reason=QuarantineReason.ZERO_PRICE_EXTRACTED)
    done = replay(database, held_id, apply=False)
    assert done.outcome is Review.STORED
    assert done.offer is not None
    assert (done.offer.price_cents, done.offer.adapter_version) == (5000, BazaarAdapter.version)
    assert rows(database) == []
    assert status(database, held_id) == "pending"
    assert replay(database, held_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REPLAY", 2)]
    assert database.value("SELECT observed_at FROM price_history") == later(10)
    assert status(database, held_id) == "replayed"
    assert replay(database, held_id).outcome is Review.NOT_WAITING
    assert rows(database) == [(5000, "REPLAY", 2)]


def test_a_page_that_still_says_nothing_stays_where_it_is(database: Database) -> None:
    unread = hold(database, page="<html><p>another shop</p></html>")
    assert replay(database, unread).outcome is Review.NOTHING_READ
    unknown = hold(database, page=PAGE.format(price="€ 50,00", state="who knows"), minutes=11)
    done = replay(database, unknown)
    assert (done.outcome, done.details) == (Review.INVALID, "UNKNOWN_AVAILABILITY")
    assert {status(database, held_id) for held_id in (unread, unknown)} == {"pending"}


def test_reading_again_believes_no_jump_and_needs_a_page(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    jump = hold(database, price=0)
    assert replay(database, jump).outcome is Review.STILL_HELD
    store(database, [card(1, 5000, later(10))], run_id=2)
    of_card = database.value("SELECT id FROM quarantine WHERE listing_id IS NOT NULL")
    assert replay(database, of_card).outcome is Review.NO_PAGE
    assert rows(database) == [(1000, "SCRAPE", 1)]


def test_an_adapter_that_fails_on_a_kept_page_is_told_of(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: BazaarAdapter, response: HtmlResponse) -> Any:
        raise IndexError("no such thing")

    held_id = hold(database)
    monkeypatch.setattr(BazaarAdapter, "extract", broken)
    done = replay(database, held_id)
    assert done.outcome is Review.NOTHING_READ
    assert "IndexError" in done.details


@pytest.mark.parametrize("page", ["", "<html><p>as the spider saw it</p></html>"])
def test_what_a_spider_read_itself_is_accepted_but_never_read_again(database: Database, page: str) -> None:
    held_id = hold(database, page=page, adapter_id="spider:toys")
    done = replay(database, held_id)
    assert done.outcome is Review.NO_ADAPTER
    assert done.details == (
        "the spider toys reads its pages itself: no adapter can read its quarantined offers again"
    )
    assert status(database, held_id) == "pending"
    assert rows(database) == []
    assert accept(database, held_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REVIEW", 2)]
    assert status(database, held_id) == "accepted"


def test_what_a_spider_read_itself_is_rejected(database: Database) -> None:
    held_id = hold(database, page="", adapter_id="spider:toys")
    assert database.call(quarantine_rows.reject, [held_id], by="Ada", note=None, now=later(60)) == [held_id]
    assert rows(database) == []
