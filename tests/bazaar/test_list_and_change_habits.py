"""Habits of lists and habits that change listings: pages and ground truth."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.bazaar.ground_truth import listed, shown_now
from tests.bazaar.visitor import Visitor, VisitorResponse

Changed = Callable[..., list[TruthListing]]


def follow_redirect(visitor: Visitor, answer: VisitorResponse) -> VisitorResponse:
    place = urlsplit(answer.headers["Location"])
    return visitor.request(f"{place.path}?{place.query}" if place.query else place.path)


@pytest.fixture
def changed(bazaar: Bazaar) -> Changed:
    """Return a function that orders a habit for a few bikes and returns their new ground truth."""

    def order(habit: str, count: int = 3, markup: str = "jsonld") -> list[TruthListing]:
        chosen = [each for each in listed(bazaar) if each.markup == markup and each.state == "on_sale"][
            :count
        ]
        bazaar.habit(habit, ids=[each.id for each in chosen])
        ids = {each.id for each in chosen}
        return [each for each in bazaar.truth("bikes") if each.id in ids]

    return order


@pytest.mark.parametrize(
    ("habit", "status", "place"),
    [
        ("beyond_404", 404, None),
        ("beyond_410", 410, None),
        ("beyond_to_first", 302, "/c/bikes?rows=30&page=1"),
        ("beyond_to_category", 301, "/c/bikes"),
    ],
)
def test_a_page_beyond_the_last_is_an_error_or_redirect(
    bazaar: Bazaar, visitor: Visitor, habit: str, status: int, place: str | None
) -> None:
    bazaar.habit(habit)
    beyond = visitor.request("/c/bikes?rows=30&page=99")
    assert (beyond.status, beyond.headers.get("Location")) == (status, place)
    assert len(visitor.all_cards("/c/bikes")) == len(listed(bazaar))


@pytest.mark.parametrize(
    ("habit", "as_page"), [("beyond_empty", None), ("beyond_first", 1), ("beyond_last", -1)]
)
def test_a_page_beyond_the_last_is_empty_or_repeats_a_page(
    bazaar: Bazaar, visitor: Visitor, habit: str, as_page: int | None
) -> None:
    bazaar.habit(habit)
    last = int(visitor.request("/c/bikes?rows=30").page.css("main::attr(data-pages)").get(""))
    beyond = visitor.request("/c/bikes?rows=30&page=99")
    expected = (
        []
        if as_page is None
        else visitor.request(f"/c/bikes?rows=30&page={as_page if as_page > 0 else last}").ids
    )
    assert (beyond.status, beyond.ids) == (200, expected)


def test_other_orders_show_the_same_listings(bazaar: Bazaar, visitor: Visitor) -> None:
    newest = [card["data-id"] for card in visitor.all_cards("/c/bikes")]
    bazaar.habit("oldest_first", category="bikes")
    assert [card["data-id"] for card in visitor.all_cards("/c/bikes")] == newest[::-1]
    bazaar.drop_habits("oldest_first")
    assert [card["data-id"] for card in visitor.all_cards("/c/bikes")] == newest
    bazaar.habit("resorted")
    cards = visitor.all_cards("/c/bikes")
    assert {card["data-id"] for card in cards} == set(newest)
    titles = [card["title"].lower() for card in cards]
    assert titles == sorted(titles)


def test_a_listing_is_shown_in_two_categories_under_two_urls(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("two_categories", category="bikes", share=0.3)
    cross_listed = [each for each in listed(bazaar) if each.category != "bikes"]
    shown = {card["data-id"]: card["href"] for card in visitor.all_cards("/c/bikes")}
    assert cross_listed
    for each in cross_listed:
        assert each.other_urls == [shown[each.id]]
        assert each.url not in each.other_urls
        assert visitor.request(each.other_urls[0]).body == visitor.request(each.url).body
        assert shown_now(each).listed
    assert len(shown) == len(listed(bazaar))
    bazaar.drop_habits()
    assert visitor.request(cross_listed[0].other_urls[0]).status == 200
    assert not any(shown_now(each).listed for each in listed(bazaar) if each.category != "bikes")


@pytest.mark.parametrize(
    ("habit", "status"), [("deleted_404", 404), ("deleted_410", 410), ("deleted_soft", 200)]
)
def test_a_deleted_listing_is_answered_with_its_status(
    bazaar: Bazaar, visitor: Visitor, changed: Changed, habit: str, status: int
) -> None:
    for listing in changed(habit):
        answer = visitor.request(listing.url)
        assert (answer.status, answer.page.css("h1::text").get()) == (
            status,
            "This listing is no longer available",
        )
        assert listing.state == "gone"
        assert (shown_now(listing).listed, shown_now(listing).page_price, shown_now(listing).page_stock) == (
            False,
            False,
            None,
        )
        assert listing.id not in {card["data-id"] for card in visitor.all_cards("/c/bikes")}


def test_a_deleted_listing_redirects_to_a_similar_one(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("deleted_to_similar"):
        answer = visitor.request(listing.url)
        other = follow_redirect(visitor, answer)
        assert (answer.status, other.status) == (301, 200)
        assert other.page.css("main::attr(data-id)").get() != listing.id


def test_a_deleted_listing_redirects_to_its_category(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("deleted_to_category"):
        answer = visitor.request(listing.url)
        assert (answer.status, answer.headers["Location"]) == (301, "/c/bikes")


def test_an_unlisted_listing_keeps_its_page(visitor: Visitor, changed: Changed) -> None:
    shown = None
    for listing in changed("deleted_unlisted"):
        shown = shown or {card["data-id"] for card in visitor.all_cards("/c/bikes")}
        answer = visitor.request(listing.url)
        assert listing.id not in shown
        assert (answer.status, answer.product["offers"]["availability"]) == (
            200,
            "https://schema.org/InStock",
        )
        assert listing.state == "unlisted"
        assert (shown_now(listing).listed, shown_now(listing).page_price) == (False, True)


def test_a_renamed_listing_redirects_to_its_new_url(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("slug_renamed"):
        old, new = listing.urls
        answer = visitor.request(old)
        assert (answer.status, answer.headers["Location"], listing.url) == (301, new, new)
        page = visitor.request(new)
        assert page.product["productID"] == listing.id
        assert page.page.css("link[rel=canonical]::attr(href)").get() == new
        assert new in [card["href"] for card in visitor.all_cards("/c/bikes")]


def test_a_future_order_takes_effect_when_it_begins(bazaar: Bazaar, visitor: Visitor) -> None:
    chosen = listed(bazaar)[0]
    later = bazaar.now().replace(hour=23)
    bazaar.habit("slug_renamed", ids=[chosen.id], begins=later)
    bazaar.habit("maintenance", begins=later, hours=1)
    assert visitor.request(chosen.url).status == 200
    assert bazaar.truth("bikes")[0].urls == [bazaar.truth("bikes")[0].url]
    bazaar.set_clock(later)
    assert "back soon" in visitor.request(chosen.url).body.decode()
    bazaar.advance(hours=1)
    assert visitor.request(chosen.url).status == 301


def test_the_catalogue_halves_and_doubles(bazaar: Bazaar, visitor: Visitor) -> None:
    before = {each.url for each in listed(bazaar)}
    bazaar.habit("catalogue_halves", category="bikes")
    half = {each.url for each in listed(bazaar)}
    assert len(half) == len(before) - round(len(before) / 2)
    assert half < before
    assert {visitor.request(url).status for url in before - half} == {404}
    bazaar.habit("catalogue_doubles", category="bikes")
    assert len(visitor.all_cards("/c/bikes")) == 2 * len(half)
    new = {each.url for each in listed(bazaar)} - half
    assert len(new) == len(half)
    assert {visitor.request(url).status for url in new} == {200}


def test_added_listings_change_like_the_others(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("catalogue_doubles", category="bikes", begins=bazaar.now())
    new = {each.url for each in bazaar.truth("bikes") if each.listed_at == bazaar.now()}
    for _ in range(6):
        bazaar.advance(days=2)
        true = {each.id: each for each in listed(bazaar)}
        cards = {card["data-id"]: card for card in visitor.all_cards("/c/bikes")}
        assert set(cards) == set(true)
        assert {each.url for each in true.values()} & new
        shown = {key: card.get("data-price") for key, card in cards.items()}
        assert shown == {
            key: None if each.mode == "hidden" else str(each.price) for key, each in true.items()
        }
