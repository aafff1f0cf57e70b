"""Review of quarantined offers: accepted or extracted again once, and stored like those of a crawl."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.items import Offer, ProductPage, Quarantine
from pricewatch.money import Money
from pricewatch.services import quarantine_review
from pricewatch.services.quarantine_review import Review, Reviewed
from pricewatch.store.source_registry import price_places
from pricewatch.store.writing import history_append, jump_quarantine, listing_upsert, quarantine_rows
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability, QuarantineReason
from tests.databases import Database
from tests.reading.slow_adapters import scripted_adapter, shorten_deadline
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


def quarantine_offer(
    database: Database,
    price: int = 5000,
    reason: QuarantineReason = QuarantineReason.AMBIGUOUS_PRICE,
    page: str = PAGE.format(price="€ 50,00", state="on_sale"),
    minutes: float = 10,
    adapter_id: str = "bazaar",
    given_price_place: str = "",
    **fields: Any,
) -> int:
    """Quarantine an offer, and return the id of its row."""
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
        given_price_place=given_price_place,
    )
    item.quarantine = Quarantine(reason, {"why": "two prices"}, made)
    database.call(quarantine_rows.quarantine_offer, item, run_id=2, at=START)
    quarantine_id: int = database.value("SELECT max(id) FROM quarantine")
    return quarantine_id


def accept(database: Database, quarantine_id: int) -> Reviewed:
    done: Reviewed = database.call(
        quarantine_review.accept, quarantine_id, by="Ada", note="checked", now=later(60)
    )
    return done


def replay(database: Database, quarantine_id: int, *, apply: bool = True) -> Reviewed:
    done: Reviewed = database.call(
        quarantine_review.replay, quarantine_id, by="Ada", now=later(60), apply=apply
    )
    return done


def rows(database: Database) -> list[tuple[Any, ...]]:
    found = database.rows("SELECT price_cents, run_type, run_id FROM price_history ORDER BY observed_at")
    return [tuple(row) for row in found]


def status(database: Database, quarantine_id: int) -> str:
    found: str = database.value("SELECT status FROM quarantine WHERE id = :id", id=quarantine_id)
    return found


def test_accepted_jump_is_stored_once_as_a_review(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 5000, later(10))], run_id=2)
    quarantine_id = database.value("SELECT id FROM quarantine")
    done = accept(database, quarantine_id)
    assert (done.outcome, done.known) == (Review.STORED, Money(1000, "EUR"))
    assert rows(database) == [(1000, "SCRAPE", 1), (5000, "REVIEW", 2)]
    listing = database.row("SELECT * FROM listings")
    assert (listing.price_cents, listing.price_observed_at) == (5000, later(10))
    assert listing.last_scraped_at is None
    assert accept(database, quarantine_id).outcome is Review.NOT_WAITING
    assert len(rows(database)) == 2
    reviewed = database.row("SELECT * FROM quarantine")
    assert (reviewed.status, reviewed.reviewed_by, reviewed.note) == ("accepted", "Ada", "checked")
    # Later prices are compared with the accepted one.
    store(database, [card(1, 5100, later(20))], run_id=3)
    assert rows(database)[-1] == (5100, "SCRAPE", 3)


def test_accepted_offer_of_a_new_listing_creates_the_listing(database: Database) -> None:
    quarantine_id = quarantine_offer(database, gtin="4006381333931")
    assert accept(database, quarantine_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REVIEW", 2)]
    assert database.value("SELECT gtin FROM listings") == "4006381333931"


def test_accepted_price_does_not_replace_a_newer_one(database: Database) -> None:
    quarantine_id = quarantine_offer(database)
    store(database, [card(1, 5500, later(30))], run_id=3)
    assert accept(database, quarantine_id).outcome is Review.OUTDATED
    assert rows(database) == [(5500, "SCRAPE", 3)]
    assert status(database, quarantine_id) == "pending"


@pytest.mark.parametrize("bad", [{"price": 0}, {"title": ""}])
def test_invalid_offer_cannot_be_accepted(database: Database, bad: dict[str, Any]) -> None:
    quarantine_id = quarantine_offer(database, **bad)
    done = accept(database, quarantine_id)
    assert done.outcome is Review.INVALID
    assert status(database, quarantine_id) == "pending"
    assert rows(database) == []


def test_rejected_offer_is_not_rejected_or_accepted_again(database: Database) -> None:
    first, second = quarantine_offer(database), quarantine_offer(database, minutes=11, identity_key="PID:2")
    review = {"by": "Ada", "note": None, "now": later(60)}
    assert sorted(database.call(quarantine_rows.reject, [first, second, 999], **review)) == [first, second]
    assert database.call(quarantine_rows.reject, [first], **review) == []
    assert accept(database, first).outcome is Review.NOT_WAITING


def test_replay_stores_the_offer_only_with_apply(database: Database) -> None:
    quarantine_id = quarantine_offer(database, price=0, reason=QuarantineReason.ZERO_PRICE_EXTRACTED)
    done = replay(database, quarantine_id, apply=False)
    assert done.outcome is Review.STORED
    assert done.offer is not None
    assert (done.offer.price_cents, done.offer.adapter_version) == (5000, BazaarAdapter.version)
    assert rows(database) == []
    assert status(database, quarantine_id) == "pending"
    assert replay(database, quarantine_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REPLAY", 2)]
    assert database.value("SELECT observed_at FROM price_history") == later(10)
    assert status(database, quarantine_id) == "replayed"
    assert replay(database, quarantine_id).outcome is Review.NOT_WAITING
    assert rows(database) == [(5000, "REPLAY", 2)]


def test_page_that_still_cannot_be_read_stays_pending(database: Database) -> None:
    unread = quarantine_offer(database, page="<html><p>another shop</p></html>")
    assert replay(database, unread).outcome is Review.NOTHING_READ
    unknown = quarantine_offer(database, page=PAGE.format(price="€ 50,00", state="unclear"), minutes=11)
    done = replay(database, unknown)
    assert (done.outcome, done.details) == (Review.INVALID, "UNKNOWN_AVAILABILITY")
    assert {status(database, quarantine_id) for quarantine_id in (unread, unknown)} == {"pending"}


def test_replay_stores_no_jump_and_needs_a_page(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    jump = quarantine_offer(database, price=0)
    assert replay(database, jump).outcome is Review.STILL_QUARANTINED
    store(database, [card(1, 5000, later(10))], run_id=2)
    without_page = database.value("SELECT id FROM quarantine WHERE listing_id IS NOT NULL")
    assert replay(database, without_page).outcome is Review.NO_PAGE
    assert rows(database) == [(1000, "SCRAPE", 1)]


@pytest.mark.parametrize(
    ("page", "details"),
    [
        ("raise", "LookupError: no such thing"),
        ("backtrack", "READ_TIMEOUT not read within 0.3 seconds"),
        ("allocate 2000", "READ_TIMEOUT not read within 1024 MB of memory"),
        ("exit", "READ_TIMEOUT not read: the reader process ended with status 3"),
    ],
)
def test_page_that_the_adapter_cannot_read_stays_quarantined(
    database: Database, monkeypatch: pytest.MonkeyPatch, page: str, details: str
) -> None:
    scripted_adapter(monkeypatch)
    shorten_deadline(monkeypatch)
    quarantine_id = quarantine_offer(database, adapter_id="scripted", page=page)
    done = replay(database, quarantine_id)
    assert (done.outcome, done.details) == (Review.NOTHING_READ, details)
    assert status(database, quarantine_id) == "pending"


def test_replay_uses_the_place_of_the_run_or_of_a_person(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted_adapter(monkeypatch)

    def places() -> list[str]:
        return [replay(database, quarantine_id).details.split()[-1] for quarantine_id in (first, second)]

    first = quarantine_offer(database, adapter_id="scripted", given_price_place="b.price")
    second = quarantine_offer(database, adapter_id="scripted", identity_key="PID:2")
    assert (
        database.value("SELECT details->>'price_place' FROM quarantine WHERE id = :id", id=first) == "b.price"
    )
    database.call(price_places.remember, "bazaar", "i.newer", by="pages", now=START)
    assert places() == ["place=b.price", "place="]
    database.call(price_places.remember, "bazaar", "u.chosen", by="Ada", now=START)
    assert places() == ["place=u.chosen", "place=u.chosen"]


@pytest.mark.parametrize("page", ["", "<html><p>as the spider saw it</p></html>"])
def test_offer_of_a_custom_spider_is_accepted_but_not_replayed(database: Database, page: str) -> None:
    quarantine_id = quarantine_offer(database, page=page, adapter_id="spider:toys")
    done = replay(database, quarantine_id)
    assert done.outcome is Review.NO_ADAPTER
    assert done.details == (
        "the spider toys reads its pages itself: no adapter can read its quarantined offers again"
    )
    assert status(database, quarantine_id) == "pending"
    assert rows(database) == []
    assert accept(database, quarantine_id).outcome is Review.STORED
    assert rows(database) == [(5000, "REVIEW", 2)]
    assert status(database, quarantine_id) == "accepted"


def test_offer_of_a_custom_spider_is_rejected(database: Database) -> None:
    quarantine_id = quarantine_offer(database, page="", adapter_id="spider:toys")
    assert database.call(quarantine_rows.reject, [quarantine_id], by="Ada", note=None, now=later(60)) == [
        quarantine_id
    ]
    assert rows(database) == []
