"""Targets whose page moved permanently: they follow if the ids match, else a person decides."""

from __future__ import annotations

import re
import urllib.request
from typing import Any

import pytest

from pricewatch.parsing.url import canonical_url
from pricewatch.services import quarantine_review
from pricewatch.store.writing import quarantine_rows
from tests.spiders.target_runs import fetch, readable, target, watch

NEW = "/item/under-a-new-name"


def page_of(world: Any, true: Any) -> str:
    with urllib.request.urlopen(world.bazaar.url + true.url) as answer:  # noqa: S310 - our own
        body: str = answer.read().decode()
    return body


def move(world: Any, true: Any, to: str = NEW, *, body: str | None = None, status: int = 301) -> None:
    """Move the page of a listing to another URL."""
    page = (page_of(world, true) if body is None else body).replace(true.url, to)
    world.bazaar.fault("redirect", path=f"^{true.url}$", to=to, status=status)
    if to == NEW:
        world.bazaar.fault("respond", path=f"^{to}$", body=page)


def known(world: Any, **fields: Any) -> tuple[Any, int, int]:
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true], **fields)
    fetch(world)
    return true, target_id, world.listing(true).id


def listing(world: Any, listing_id: int) -> Any:
    return world.database.row("SELECT * FROM listings WHERE id = :id", id=listing_id)


def quarantined(world: Any) -> list[Any]:
    return list(world.database.rows("SELECT * FROM quarantine ORDER BY id"))


def accept(world: Any, quarantine_id: int) -> quarantine_review.Reviewed:
    done: quarantine_review.Reviewed = world.database.call(
        quarantine_review.accept, quarantine_id, by="Ada", note=None, now=world.bazaar.now()
    )
    return done


@pytest.mark.parametrize("adapter_id", ["bazaar", "generic"])
@pytest.mark.parametrize("status", [301, 308])
def test_page_with_the_same_id_is_followed(world, status, adapter_id):
    true, target_id, listing_id = known(world, adapter_id=adapter_id)
    old = target(world, target_id).url
    move(world, true, status=status)
    run = fetch(world, ids=target_id)
    assert (run["reasons"]["targets/moved"], run["new"]) == (1, 0)
    row, new = target(world, target_id), world.bazaar.url + NEW
    assert (row.url, row.canonical_url, row.listing_id) == (new, canonical_url(new), listing_id)
    assert (row.status, row.last_status, row.consecutive_failures) == ("ACTIVE", "SUCCESS", 0)
    assert (listing(world, listing_id).url, listing(world, listing_id).strikes) == (new, 0)
    assert listing(world, listing_id).canonical_url == canonical_url(new)
    note = world.database.row("SELECT * FROM audit")
    assert (note.person, note.action, note.subject) == ("pricewatch", "target moved", f"target {target_id}")
    assert (note.details["from"], note.details["to"]) == (old, new)
    assert note.details["ids"]["product_id"] == true.id
    # From now on the new URL is requested, and nothing else is recorded.
    world.bazaar.clear_log()
    fetch(world, ids=target_id)
    assert (world.methods_used(true.url), world.methods_used(NEW)) == ([], ["GET"])
    assert world.database.value("SELECT count(*) FROM audit") == 1
    assert quarantined(world) == []


@pytest.mark.parametrize("status", [302, 303, 307])
def test_temporary_redirect_is_not_a_move(world, status):
    true, target_id, _ = known(world)
    move(world, true, status=status)
    fetch(world, ids=target_id)
    row = target(world, target_id)
    assert (row.last_status, row.last_reason) == ("FAILED", "PAGE_STRUCTURE_CHANGED")
    assert row.url == world.bazaar.url + true.url
    assert quarantined(world) == []


def test_different_product_is_quarantined_without_a_strike(world):
    true, target_id, listing_id = known(world)
    similar = readable(world, 2)[1]
    before = listing(world, listing_id)
    move(world, true, similar.url)
    for _ in range(6):
        fetch(world, ids=target_id)
    row = target(world, target_id)
    assert (row.status, row.last_status, row.last_reason) == ("ACTIVE", "QUARANTINED", "MOVED")
    now = listing(world, listing_id)
    assert (now.price_cents, now.url, now.strikes, now.active) == (before.price_cents, before.url, 0, True)
    assert world.database.value("SELECT count(*) FROM verification_attempts") == 0
    assert world.database.value("SELECT count(*) FROM listings") == 1
    row = quarantined(world)[0]
    assert (row.reason, row.target_id, row.url) == ("MOVED", target_id, world.bazaar.url + similar.url)
    assert "another platform id" in row.details["why"]
    assert row.details["moved_from"] == world.bazaar.url + true.url
    assert similar.title in world.database.call(quarantine_rows.get, row.id)["page"].decode()


@pytest.mark.parametrize("place", ["/", "/c/bikes"])
def test_redirect_to_home_or_category_is_quarantined(world, place):
    true, target_id, listing_id = known(world)
    move(world, true, place)
    fetch(world, ids=target_id)
    assert target(world, target_id).url == world.bazaar.url + true.url
    (row,) = quarantined(world)
    assert (row.reason, row.status) == ("MOVED", "pending")
    # There is no offer to accept; after a rejection, the target fails like any redirected page.
    assert accept(world, row.id).outcome is quarantine_review.Review.INVALID
    world.database.call(quarantine_rows.reject, [row.id], by="Ada", note=None, now=world.bazaar.now())
    fetch(world, ids=target_id)
    row = target(world, target_id)
    assert (row.last_reason, row.consecutive_failures) == ("PAGE_STRUCTURE_CHANGED", 1)
    assert len(quarantined(world)) == 1
    assert (listing(world, listing_id).active, listing(world, listing_id).strikes) == (True, 0)


def test_blocked_page_behind_a_redirect_is_not_quarantined(world):
    true, target_id, _ = known(world)
    world.bazaar.fault("redirect", path=f"^{true.url}$", to=NEW, status=301)
    world.bazaar.fault("captcha", path=f"^{NEW}$")
    fetch(world, ids=target_id)
    assert target(world, target_id).last_status == "FAILED"
    assert quarantined(world) == []


def test_target_and_listing_follow_after_acceptance(world):
    true, target_id, listing_id = known(world)
    body = page_of(world, true).replace(true.id, "999999")
    cheaper = true.price - 100
    move(world, true, body=re.sub(r'(<strong class="price">)[^<]*', rf"\1€ {cheaper / 100:.2f}", body))
    fetch(world, ids=target_id)
    (row,) = quarantined(world)
    assert accept(world, row.id).outcome is quarantine_review.Review.STORED
    new = world.bazaar.url + NEW
    row, now = target(world, target_id), listing(world, listing_id)
    assert (row.url, row.listing_id, row.last_status) == (new, listing_id, "SUCCESS")
    assert (now.url, now.identity_key, now.price_cents) == (new, "PID:999999", cheaper)
    (note,) = world.database.rows("SELECT person, action FROM audit")
    assert tuple(note) == ("Ada", "target moved")
    assert [tuple(one) for one in world.database.rows("SELECT status, reviewed_by FROM quarantine")] == [
        ("accepted", "Ada")
    ]
    fetch(world, ids=target_id)
    assert target(world, target_id).last_status == "SUCCESS"
    assert world.database.value("SELECT count(*) FROM listings") == 1


def test_target_never_read_waits_for_review(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    move(world, true)
    fetch(world)
    (row,) = quarantined(world)
    assert "no listing was stored" in row.details["why"]
    assert accept(world, row.id).outcome is quarantine_review.Review.STORED
    row = target(world, target_id)
    assert row.url == world.bazaar.url + NEW
    assert listing(world, row.listing_id).price_cents == true.price


def test_url_of_another_target_is_quarantined(world):
    true, target_id, _ = known(world)
    move(world, true)
    url = world.bazaar.url + NEW
    other = world.database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url) VALUES ('bazaar', 'bazaar', :url,"
        " :canonical) RETURNING id",
        url=url,
        canonical=canonical_url(url),
    )
    fetch(world, ids=target_id)
    (row,) = quarantined(world)
    assert row.details["why"] == f"target {other} already monitors the new page"
    done = accept(world, row.id)
    assert (done.outcome, done.details) == (quarantine_review.Review.INVALID, row.details["why"])
    assert quarantined(world)[0].status == "pending"


def test_url_of_another_listing_is_quarantined_and_accepted(world):
    true, target_id, listing_id = known(world)
    move(world, true)
    url = world.bazaar.url + NEW
    other = world.database.value(
        "INSERT INTO listings (source_id, identity_key, url, canonical_url, title, availability, price_cents,"
        " currency, first_seen_at, last_seen_at) VALUES ('bazaar', 'PID:999999', :url, :canonical, 'It',"
        " 'IN_STOCK', 100000, 'EUR', :now, :now) RETURNING id",
        url=url,
        canonical=canonical_url(url),
        now=world.bazaar.now(),
    )
    fetch(world, ids=target_id)
    (row,) = quarantined(world)
    assert row.details["why"] == f"the new page is already stored as listing {other}"
    assert listing(world, listing_id).url == world.bazaar.url + true.url
    assert accept(world, row.id).would_store
    row = target(world, target_id)
    assert row.url == url
    # It is stored as the listing with the same id, which keeps its URL.
    assert row.listing_id == listing_id
    assert listing(world, listing_id).url == world.bazaar.url + true.url


def test_quarantine_is_settled_when_the_page_returns(world):
    true, target_id, _ = known(world)
    move(world, true, "/c/bikes")
    fetch(world, ids=target_id)
    world.bazaar.clear_faults()
    fetch(world, ids=target_id)
    (row,) = quarantined(world)
    assert (row.status, row.reviewed_by) == ("rejected", "pricewatch")
    assert target(world, target_id).last_status == "SUCCESS"
    # No person rejected it: another redirect is quarantined again.
    move(world, true, "/c/bikes")
    fetch(world, ids=target_id)
    assert target(world, target_id).last_status == "QUARANTINED"


def test_replay_follows_if_the_ids_match_now(world):
    true, target_id, listing_id = known(world)
    world.database.do("UPDATE listings SET platform_id = 'another'")
    move(world, true)
    fetch(world, ids=target_id)
    (row,) = quarantined(world)

    def replay() -> Any:
        return world.database.call(
            quarantine_review.replay, row.id, by="Ada", now=world.bazaar.now(), apply=True
        )

    assert replay().outcome is quarantine_review.Review.STILL_QUARANTINED
    world.database.do("UPDATE listings SET platform_id = :id", id=true.id)
    assert replay().would_store
    assert target(world, target_id).url == world.bazaar.url + NEW
    assert listing(world, listing_id).url == world.bazaar.url + NEW
