"""The clock, and how pages and ground truth follow it."""

from datetime import UTC, datetime, timedelta

import pytest

from pricewatch.bazaar.client import Bazaar, BazaarError
from tests.bazaar.conftest import START
from tests.bazaar.visitor import Visitor

EARLIER = datetime(2020, 1, 1, tzinfo=UTC)


def sample_pages(bazaar: Bazaar) -> list[bytes]:
    """Return pages of every kind."""
    visitor = Visitor(bazaar.url)
    details = [one.url for one in bazaar.truth()[::20]]
    return [
        visitor.request(path).body
        for path in ("/c/bikes?rows=90", "/c/rentals", "/search?status=all", *details)
    ]


def test_the_same_seed_and_clock_give_the_same_bytes() -> None:
    with (
        Bazaar.start(seed=5, listings=200, days=10, start=START) as one,
        Bazaar.start(seed=5, listings=200, days=10, start=START) as two,
        Bazaar.start(seed=6, listings=200, days=10, start=START) as other,
    ):
        assert sample_pages(one) == sample_pages(two)
        assert sample_pages(one) != sample_pages(other)
        # One clock advances in steps, with requests in between; the other goes further and back.
        for _ in range(4):
            one.advance(days=1)
            sample_pages(one)
        two.advance(days=9)
        sample_pages(two)
        two.set_clock(START + timedelta(days=4))
        assert sample_pages(one) == sample_pages(two)
        assert one.truth() == two.truth()


def test_the_clock_moves_only_when_set(bazaar: Bazaar) -> None:
    assert bazaar.now() == bazaar.now() == START
    assert bazaar.advance(hours=36) == START + timedelta(hours=36)
    assert bazaar.set_clock(START + timedelta(days=1)) == START + timedelta(days=1)


def test_a_live_clock_runs() -> None:
    with Bazaar.start(listings=10, live=5000) as live:
        first = live.now()
        assert live.now() > first


def test_ground_truth_grows_and_does_not_change_the_past(bazaar: Bazaar) -> None:
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


def test_pages_match_the_ground_truth_over_time(bazaar: Bazaar, visitor: Visitor) -> None:
    for _ in range(6):
        bazaar.advance(hours=31)
        for listing in bazaar.truth("instruments"):
            answer = visitor.request(listing.url)
            if listing.state == "gone":
                assert answer.status == (200 if listing.mode == "soft" else int(listing.mode or 0))
            elif listing.markup == "jsonld":
                price = f"{listing.price // 100}.{listing.price % 100:02d}"
                assert answer.product["offers"].get("price") == (None if listing.mode == "hidden" else price)


def test_nothing_is_listed_long_before_the_start(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.set_clock(EARLIER)
    assert bazaar.truth() == []
    assert visitor.request("/c/bikes").cards == []


def test_manual_changes_persist_when_the_clock_goes_back_and_forth(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.advance(days=1)
    listing = bazaar.add("toys", "Kreisel", 500)
    bazaar.advance(days=1)
    bazaar.change(listing.id, price=400)
    bazaar.set_clock(START)
    assert visitor.request(listing.url).status == 404
    bazaar.advance(days=1)
    assert "€ 5,00" in visitor.request(listing.url).page.css(".price::text").getall()
    bazaar.advance(days=1)
    assert "€ 4,00" in visitor.request(listing.url).page.css(".price::text").getall()


def test_moving_the_clock_too_far_is_rejected(bazaar: Bazaar) -> None:
    with pytest.raises(BazaarError, match="twenty years"):
        bazaar.advance(days=9_000)
