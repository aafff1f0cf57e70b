"""Overview and search pages, compared with the ground truth."""

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.conftest import START
from tests.bazaar.visitor import Visitor

CATEGORIES = ("bikes", "cameras", "laptops", "furniture", "phones", "instruments", "toys", "rentals")


def test_the_front_page_links_to_every_category(visitor: Visitor) -> None:
    links = visitor.request("/").page.css(".categories a::attr(href)").getall()
    assert links == [f"/c/{name}" for name in CATEGORIES]
    assert all(visitor.request(link).cards for link in links)


@pytest.mark.parametrize("days", [0, 9])
@pytest.mark.parametrize("category", CATEGORIES)
def test_paging_finds_every_listing_with_its_price(
    bazaar: Bazaar, visitor: Visitor, category: str, days: int
) -> None:
    bazaar.advance(days=days)
    shown = {one.id: one for one in bazaar.truth(category) if one.state in ("on_sale", "out_of_stock")}
    cards = visitor.all_cards(f"/c/{category}")
    assert [card["data-id"] for card in cards] == sorted(
        shown, key=lambda key: (shown[key].relisted_at or shown[key].listed_at, int(key)), reverse=True
    )
    for card in cards:
        listing = shown[card["data-id"]]
        hidden = listing.mode == "hidden"
        assert card.get("data-price") == (None if hidden else str(listing.price))
        assert (card["data-currency"], card["data-status"]) == (listing.currency, listing.state)
        assert (card["href"], card["title"]) == (listing.url, listing.title)


def test_a_page_shows_its_position_and_the_next_link(bazaar: Bazaar, visitor: Visitor) -> None:
    total = sum(one.state == "on_sale" for one in bazaar.truth("bikes"))
    pages = -(-total // 30)
    first, last = visitor.request("/c/bikes"), visitor.request(f"/c/bikes?page={pages}")
    main = first.page.css("main").attrib
    assert (main["data-total"], main["data-page"], main["data-pages"]) == (str(total), "1", str(pages))
    assert len(first.cards) == 30
    assert first.page.css('a[rel="next"]::attr(href)').get() == "/c/bikes?page=2"
    assert last.page.css('a[rel="next"]').get() is None


@pytest.mark.parametrize(
    ("rows", "given"), [("90", 90), ("91", 90), ("5000", 90), ("0", 30), ("x", 30), ("-3", 30)]
)
def test_a_page_has_at_most_ninety_rows(visitor: Visitor, rows: str, given: int) -> None:
    assert len(visitor.request(f"/c/bikes?rows={rows}").cards) == given


def test_a_full_page_has_a_realistic_size(visitor: Visitor) -> None:
    assert 30_000 < len(visitor.request("/c/bikes?rows=90").body) < 48_000


def test_the_maximum_page_size_can_be_changed(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.behave(max_rows=7)
    assert len(visitor.request("/c/bikes?rows=90").cards) == 7


def test_new_listings_push_the_others_down(bazaar: Bazaar, visitor: Visitor) -> None:
    before = visitor.request("/c/bikes?rows=10")
    second = visitor.request("/c/bikes?rows=10&page=2")
    new = bazaar.add("bikes", "Rover Safety <1885> & Luftpumpe", 99900)
    after = visitor.request("/c/bikes?rows=10")
    assert after.ids == [new.id, *before.ids[:-1]]
    assert visitor.request("/c/bikes?rows=10&page=2").ids == [before.ids[-1], *second.ids[:-1]]
    assert after.cards[0]["title"] == "Rover Safety <1885> & Luftpumpe"


def test_new_listings_appear_at_the_top_over_time(bazaar: Bazaar, visitor: Visitor) -> None:
    known = {one.id for one in bazaar.truth("furniture")}
    bazaar.advance(days=5)
    cards = visitor.all_cards("/c/furniture")
    fresh = [card for card in cards if card["time"] > START.isoformat()]
    assert cards[: len(fresh)] == fresh
    new = {card["data-id"] for card in cards} - known
    assert len(new) >= 5
    assert new <= {card["data-id"] for card in fresh}


def test_beyond_last_sets_the_answer_beyond_the_last_page(bazaar: Bazaar, visitor: Visitor) -> None:
    pages = int(visitor.request("/c/bikes?rows=90").page.css("main::attr(data-pages)").get(""))
    first, last = visitor.request("/c/bikes?rows=90"), visitor.request(f"/c/bikes?rows=90&page={pages}")
    beyond = f"/c/bikes?rows=90&page={pages + 3}"
    empty = visitor.request(beyond)
    assert (empty.status, empty.cards) == (200, [])
    assert empty.page.css('a[rel="next"]').get() is None
    bazaar.behave(beyond_last="first")
    assert visitor.request(beyond).body == first.body
    bazaar.behave(beyond_last="404")
    assert visitor.request(beyond).status == 404
    assert visitor.request(f"/c/bikes?rows=90&page={pages}").status == 200
    bazaar.behave(beyond_last="repeat")
    repeated = visitor.request(beyond)
    assert repeated.ids == last.ids
    assert repeated.page.css('a[rel="next"]::attr(href)').get() == f"/c/bikes?rows=90&page={pages + 4}"


def test_search_by_word_price_and_category(bazaar: Bazaar, visitor: Visitor) -> None:
    found = visitor.all_cards("/search?q=trek&category=bikes&min=200&max=900.50")
    expected = {
        one.id
        for one in bazaar.truth("bikes")
        if one.state == "on_sale" and "trek" in one.title.lower() and 20_000 <= one.price <= 90_050
    }
    assert {card["data-id"] for card in found} == expected
    assert expected


def test_search_shows_sold_listings_with_a_sticker(bazaar: Bazaar, visitor: Visitor) -> None:
    sold = {one.id for one in bazaar.truth("bikes") if one.state == "sold"}
    on_sale = {one.id for one in bazaar.truth("bikes") if one.state == "on_sale"}
    answer = visitor.request("/search?category=bikes&status=sold&rows=90")
    assert set(answer.ids) == sold
    assert answer.page.css("article.card .sticker::text").getall() == ["SOLD"] * len(sold)
    assert {card["data-status"] for card in answer.cards} == {"sold"}
    assert {
        card["data-id"] for card in visitor.all_cards("/search?category=bikes&status=all")
    } == sold | on_sale
    assert not sold & {card["data-id"] for card in visitor.all_cards("/search?category=bikes")}


def test_a_search_in_all_categories_is_newest_first(visitor: Visitor) -> None:
    times = [card["time"] for card in visitor.all_cards("/search?status=all")]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize(
    "target", ["/c/boats", "/nothing", "/item/nothing-aaaaaa", "/seller/1", "/search?category=x"]
)
def test_unknown_pages_are_404(visitor: Visitor, target: str) -> None:
    assert visitor.request(target).status == 404


def test_a_seller_page_shows_the_listings_on_offer(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = next(one for one in bazaar.truth() if one.state == "on_sale")
    answer = visitor.request(f"/seller/{listing.seller_id}")
    expected = {
        one.id for one in bazaar.truth() if one.seller_id == listing.seller_id and one.state == "on_sale"
    }
    assert set(answer.ids) == expected
