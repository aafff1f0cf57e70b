"""The clock, and truth that moves with it."""

from datetime import UTC, datetime, timedelta

import pytest

from pricewatch.bazaar.client import Bazaar, BazaarError
from tests.bazaar.conftest import START
from tests.bazaar.visitor import Visitor

EARLIER = datetime(2020, 1, 1, tzinfo=UTC)


def everything(bazaar: Bazaar) -> list[bytes]:
    """Pages of every kind, as bytes."""
    visitor = Visitor(bazaar.url)
    details = [one.url for one in bazaar.truth()[::20]]
    return [
        visitor.ask(path).body for path in ("/c/bikes?rows=90", "/c/rentals", "/search?status=all", *details)
    ]


def test_the_same_seed_and_clock_give_the_same_bytes() -> None:
    with (
        Bazaar.start(seed=5, listings=200, days=10, start=START) as one,
        Bazaar.start(seed=5, listings=200, days=10, start=START) as two,
        Bazaar.start(seed=6, listings=200, days=10, start=START) as other,
    ):
        assert everything(one) == everything(two)
        assert everything(one) != everything(other)
        # One goes in steps and looks on the way, the other goes there and back again.
        for _ in range(4):
            one.advance(days=1)
            everything(one)
        two.advance(days=9)
        everything(two)
        two.set_clock(START + timedelta(days=4))
        assert everything(one) == everything(two)
        assert one.truth() == two.truth()


def test_it_stands_still_until_told(bazaar: Bazaar) -> None:
    assert bazaar.now() == bazaar.now() == START
    assert bazaar.advance(hours=36) == START + timedelta(hours=36)
    assert bazaar.set_clock(START + timedelta(days=1)) == START + timedelta(days=1)


def test_it_runs_when_told_to() -> None:
    with Bazaar.start(listings=10, live=5000) as live:
        first = live.now()
        assert live.now() > first


def test_truth_grows_and_never_rewrites_the_past(bazaar: Bazaar) -> None:
    before = {one.url: one for one in bazaar.truth()}
    now = bazaar.advance(days=6)
    after = {one.url: one for one in bazaar.truth()}
    assert before.keys() < after.keys()
    for url, old in before.items():
        new = after[url]
        assert new.prices[: len(old.prices)] == old.prices
        assert new.ids[: len(old.ids)] == old.ids
        assert [span[0] for span in new.spans][: len(old.spans)] == [span[0] for span in old.spans]
    for listing in after.values():
        assert listing.prices[-1][0] <= now
        assert listing.spans[-1][0] <= now
        assert listing.spans[-1][1] is None
        assert listing.price == listing.prices[-1][1]
        assert (listing.state, listing.mode) == listing.spans[-1][2:]
    assert {one.state for one in after.values()} == {"on_sale", "sold", "gone", "out_of_stock"}


def test_pages_follow_the_truth_as_time_goes_by(bazaar: Bazaar, visitor: Visitor) -> None:
    for _ in range(6):
        bazaar.advance(hours=31)
        for listing in bazaar.truth("instruments"):
            answer = visitor.ask(listing.url)
            if listing.state == "gone":
                assert answer.status == (200 if listing.mode == "soft" else int(listing.mode or 0))
            elif listing.markup == "jsonld":
                price = f"{listing.price // 100}.{listing.price % 100:02d}"
                assert answer.product["offers"].get("price") == (None if listing.mode == "hidden" else price)


def test_before_the_start_there_is_only_what_was_listed_by_then(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.set_clock(EARLIER)
    assert bazaar.truth() == []
    assert visitor.ask("/c/bikes").cards == []


def test_hand_made_changes_survive_a_clock_that_goes_back_and_forth(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.advance(days=1)
    listing = bazaar.add("toys", "Kreisel", 500)
    bazaar.advance(days=1)
    bazaar.change(listing.id, price=400)
    bazaar.set_clock(START)
    assert visitor.ask(listing.url).status == 404
    bazaar.advance(days=1)
    assert "€ 5,00" in visitor.ask(listing.url).page.css(".price::text").getall()
    bazaar.advance(days=1)
    assert "€ 4,00" in visitor.ask(listing.url).page.css(".price::text").getall()


def test_it_cannot_be_moved_out_of_the_calendar(bazaar: Bazaar) -> None:
    with pytest.raises(BazaarError, match="twenty years"):
        bazaar.advance(days=9_000)
