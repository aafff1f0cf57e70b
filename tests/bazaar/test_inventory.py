"""The inventory alone: generated listings and their indexes."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from pricewatch.bazaar import amounts, catalogue
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.sample_listing import ON_SALE, SampleListing
from pricewatch.bazaar.timeline import DAY, HOUR

START = datetime(2024, 5, 1, tzinfo=UTC)


def inventory(seed: int = 3, listings: int = 400, days: int = 20) -> Inventory:
    return Inventory(seed, listings, days, MarketplaceClock(START))


def history(listing: SampleListing, until: float) -> tuple[object, ...]:
    """Everything about a listing up to a time, in comparable form."""
    dated = (listing.ids, listing.titles, listing.prices, listing.spans)
    return (
        listing.path,
        listing.markup,
        listing.seller,
        *([e for e in row if e[0] <= until] for row in dated),
    )


def test_the_seed_determines_all_listings() -> None:
    first, again, other = inventory(3), inventory(3), inventory(4)
    assert [history(one, 20 * DAY) for one in first.listings] == [
        history(one, 20 * DAY) for one in again.listings
    ]
    assert [one.path for one in first.listings] != [one.path for one in other.listings]


def test_a_longer_timeline_does_not_change_its_beginning() -> None:
    short, long = inventory(days=5), inventory(days=20)
    assert [history(one, 5 * DAY) for one in short.listings] == [
        history(one, 5 * DAY) for one in long.listings if one.listed_at <= 5 * DAY
    ]


@pytest.mark.parametrize("listings", [0, 1, 9, 400])
def test_the_stock_at_the_start_is_the_requested_number(listings: int) -> None:
    made = inventory(listings=listings)
    assert sum(len(index.offered) for index in made.categories.values()) == listings
    assert all(
        place[2].at(0).state == ON_SALE for index in made.categories.values() for place in index.offered
    )


def test_the_stock_changes_but_stays_about_the_same_size() -> None:
    made = inventory()
    for day in range(1, 21):
        made.clock.set(day * DAY)
        made.update()
        assert 0.8 * 400 < sum(len(index.offered) for index in made.categories.values()) < 1.25 * 400
    arrived = sum(listing.listed_at > 0 for listing in made.listings)
    assert 0.02 < arrived / 400 / 20 < 0.03


def test_small_steps_and_one_jump_give_the_same_indexes() -> None:
    steps, jump = inventory(), inventory()
    for hour in range(0, 15 * 24, 7):
        steps.clock.set(hour * HOUR)
        steps.update()
    jump.clock.set(steps.clock.now())
    jump.update()
    for name, index in steps.categories.items():
        assert [place[:2] for place in index.offered] == [
            place[:2] for place in jump.categories[name].offered
        ]
        assert [place[:2] for place in index.sold] == [place[:2] for place in jump.categories[name].sold]
    steps.clock.set(0)
    steps.update()
    fresh = inventory()
    for name, index in fresh.categories.items():
        assert [place[:2] for place in index.offered] == [
            place[:2] for place in steps.categories[name].offered
        ]


def test_only_changed_listings_get_a_new_version() -> None:
    made = inventory()
    before = {listing: listing.version for listing in made.listings}
    made.clock.set(6 * HOUR)
    made.update()
    changed = {listing for listing in made.listings if listing.version != before[listing]}
    assert changed == {one for one in made.listings if any(0 < at <= 6 * HOUR for at in one.change_times())}
    assert 0 < len(changed) < 100


def test_price_changes_are_hours_apart_moderate_and_only_while_on_sale() -> None:
    for listing in inventory().listings:
        for (earlier, old), (later, new) in pairwise(listing.prices):
            assert later - earlier >= 6 * HOUR
            assert new != old
            assert old < 100 * amounts.MINOR_UNITS[listing.currency] or 0.75 < new / old < 1.2
            assert listing.at(later).state == ON_SALE
        assert all(price > 0 for _, price in listing.prices)


def test_every_state_and_mode_occurs() -> None:
    listings = inventory(listings=1000, days=40).listings
    states = {(span.state, span.mode) for listing in listings for span in listing.spans}
    assert states == {
        ("on_sale", None),
        ("sold", None),
        ("gone", "404"),
        ("gone", "410"),
        ("gone", "soft"),
        ("out_of_stock", "visible"),
        ("out_of_stock", "hidden"),
    }
    returned = [listing for listing in listings if len(listing.bumps) > 1]
    assert any(len(listing.ids) > 1 for listing in returned)
    assert any(len(listing.ids) == 1 for listing in returned)
    assert {listing.markup for listing in listings} == {"jsonld", "microdata", "plain", "js"}


def test_ids_and_paths_are_unique() -> None:
    listings = inventory(listings=1000).listings
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
def test_each_currency_has_its_own_format(amount: int, currency: str, text: str, number: str) -> None:
    assert amounts.displayed(amount, currency) == text
    assert amounts.decimal(amount, currency) == number
