"""The world by itself: what the seed decides, and what it must never do."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from pricewatch.bazaar import catalogue, money
from pricewatch.bazaar.clock import Clock
from pricewatch.bazaar.listing import ON_SALE, Listing
from pricewatch.bazaar.timeline import DAY, HOUR
from pricewatch.bazaar.world import World

START = datetime(2024, 5, 1, tzinfo=UTC)


def world(seed: int = 3, listings: int = 400, days: int = 20) -> World:
    return World(seed, listings, days, Clock(START))


def history(listing: Listing, until: float) -> tuple[object, ...]:
    """Everything about a listing up to an instant, in a shape that compares."""
    dated = (listing.ids, listing.titles, listing.prices, listing.spans)
    return (
        listing.path,
        listing.markup,
        listing.seller,
        *([e for e in row if e[0] <= until] for row in dated),
    )


def test_the_seed_decides_everything() -> None:
    first, again, other = world(3), world(3), world(4)
    assert [history(one, 20 * DAY) for one in first.listings] == [
        history(one, 20 * DAY) for one in again.listings
    ]
    assert [one.path for one in first.listings] != [one.path for one in other.listings]


def test_a_longer_timeline_leaves_the_beginning_as_it_was() -> None:
    short, long = world(days=5), world(days=20)
    assert [history(one, 5 * DAY) for one in short.listings] == [
        history(one, 5 * DAY) for one in long.listings if one.listed_at <= 5 * DAY
    ]


@pytest.mark.parametrize("listings", [0, 1, 9, 400])
def test_the_stock_at_the_start_is_what_was_asked_for(listings: int) -> None:
    made = world(listings=listings)
    assert sum(len(shelf.offered) for shelf in made.shelves.values()) == listings
    assert all(place[2].at(0).state == ON_SALE for shelf in made.shelves.values() for place in shelf.offered)


def test_the_stock_stays_about_the_same_and_keeps_changing() -> None:
    made = world()
    for day in range(1, 21):
        made.clock.set(day * DAY)
        made.settle()
        assert 0.8 * 400 < sum(len(shelf.offered) for shelf in made.shelves.values()) < 1.25 * 400
    arrived = sum(listing.listed_at > 0 for listing in made.listings)
    assert 0.02 < arrived / 400 / 20 < 0.03


def test_step_by_step_and_at_one_go_lead_to_the_same_shelves() -> None:
    steps, jump = world(), world()
    for hour in range(0, 15 * 24, 7):
        steps.clock.set(hour * HOUR)
        steps.settle()
    jump.clock.set(steps.clock.now())
    jump.settle()
    for name, shelf in steps.shelves.items():
        assert [place[:2] for place in shelf.offered] == [place[:2] for place in jump.shelves[name].offered]
        assert [place[:2] for place in shelf.sold] == [place[:2] for place in jump.shelves[name].sold]
    steps.clock.set(0)
    steps.settle()
    fresh = world()
    for name, shelf in fresh.shelves.items():
        assert [place[:2] for place in shelf.offered] == [place[:2] for place in steps.shelves[name].offered]


def test_only_what_changed_gets_a_new_version() -> None:
    made = world()
    before = {listing: listing.version for listing in made.listings}
    made.clock.set(6 * HOUR)
    made.settle()
    changed = {listing for listing in made.listings if listing.version != before[listing]}
    assert changed == {one for one in made.listings if any(0 < at <= 6 * HOUR for at in one.moments())}
    assert 0 < len(changed) < 100


def test_prices_change_hours_apart_while_on_sale_and_never_by_much() -> None:
    for listing in world().listings:
        for (earlier, old), (later, new) in pairwise(listing.prices):
            assert later - earlier >= 6 * HOUR
            assert new != old
            assert old < 100 * money.MINOR[listing.currency] or 0.75 < new / old < 1.2
            assert listing.at(later).state == ON_SALE
        assert all(price > 0 for _, price in listing.prices)


def test_every_kind_of_fate_occurs() -> None:
    listings = world(listings=1000, days=40).listings
    fates = {(span.state, span.mode) for listing in listings for span in listing.spans}
    assert fates == {
        ("on_sale", None),
        ("sold", None),
        ("gone", "404"),
        ("gone", "410"),
        ("gone", "soft"),
        ("out_of_stock", "visible"),
        ("out_of_stock", "hidden"),
    }
    returned = [listing for listing in listings if len(listing.tops) > 1]
    assert any(len(listing.ids) > 1 for listing in returned)
    assert any(len(listing.ids) == 1 for listing in returned)
    assert {listing.markup for listing in listings} == {"jsonld", "microdata", "plain", "js"}


def test_ids_and_paths_are_unique() -> None:
    listings = world(listings=1000).listings
    ids = [platform_id for listing in listings for _, platform_id in listing.ids]
    assert len(set(ids)) == len(ids)
    assert len({listing.path for listing in listings}) == len(listings)
    assert len({catalogue.key_of(number) for number in range(400_000, 450_000)}) == 50_000


@pytest.mark.parametrize(
    ("amount", "currency", "text", "number"),
    [
        (129900, "EUR", "€ 1.299,00", "1299.00"),
        (5, "EUR", "€ 0,05", "0.05"),
        (123456789, "EUR", "€ 1.234.567,89", "1234567.89"),
        (129900, "USD", "$1,299.00", "1299.00"),
        (129900, "JPY", "¥129,900", "129900"),
    ],
)
def test_each_currency_is_written_its_own_way(amount: int, currency: str, text: str, number: str) -> None:
    assert money.shown(amount, currency) == text
    assert money.plain(amount, currency) == number
