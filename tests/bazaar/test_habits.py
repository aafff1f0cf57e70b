"""Habits of shops, each over HTTP: what a visitor meets, and what the truth says could be read."""

import json
import subprocess
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar import look, money
from pricewatch.bazaar.client import Bazaar, BazaarError, Shown, TruthListing
from pricewatch.bazaar.habits.known import HABITS
from tests.bazaar.conftest import START
from tests.bazaar.visitor import Answer, Visitor

UP = ("on_sale", "out_of_stock")
Changed = Callable[..., list[TruthListing]]


def listed(bazaar: Bazaar, category: str = "bikes") -> list[TruthListing]:
    return [each for each in bazaar.truth(category) if each.state in UP]


def now(listing: TruthListing) -> Shown:
    return listing.shown[-1]


def followed(visitor: Visitor, answer: Answer) -> Answer:
    place = urlsplit(answer.headers["Location"])
    return visitor.ask(f"{place.path}?{place.query}" if place.query else place.path)


@pytest.fixture
def changed(bazaar: Bazaar) -> Changed:
    """Let something happen to a few bikes; answers with them as they are then."""

    def happen(habit: str, count: int = 3, markup: str = "jsonld") -> list[TruthListing]:
        chosen = [each for each in listed(bazaar) if each.markup == markup and each.state == "on_sale"][
            :count
        ]
        bazaar.habit(habit, ids=[each.id for each in chosen])
        ids = {each.id for each in chosen}
        return [each for each in bazaar.truth("bikes") if each.id in ids]

    return happen


# Lists


@pytest.mark.parametrize(
    ("habit", "status", "place"),
    [
        ("beyond_404", 404, None),
        ("beyond_410", 410, None),
        ("beyond_to_first", 302, "/c/bikes?rows=30&page=1"),
        ("beyond_to_category", 301, "/c/bikes"),
    ],
)
def test_beyond_the_end_is_an_answer(
    bazaar: Bazaar, visitor: Visitor, habit: str, status: int, place: str | None
) -> None:
    bazaar.habit(habit)
    beyond = visitor.ask("/c/bikes?rows=30&page=99")
    assert (beyond.status, beyond.headers.get("Location")) == (status, place)
    assert len(visitor.all_cards("/c/bikes")) == len(listed(bazaar))


@pytest.mark.parametrize(
    ("habit", "as_page"), [("beyond_empty", None), ("beyond_first", 1), ("beyond_last", -1)]
)
def test_beyond_the_end_is_a_page(bazaar: Bazaar, visitor: Visitor, habit: str, as_page: int | None) -> None:
    bazaar.habit(habit)
    last = int(visitor.ask("/c/bikes?rows=30").page.css("main::attr(data-pages)").get(""))
    beyond = visitor.ask("/c/bikes?rows=30&page=99")
    expected = (
        []
        if as_page is None
        else visitor.ask(f"/c/bikes?rows=30&page={as_page if as_page > 0 else last}").ids
    )
    assert (beyond.status, beyond.ids) == (200, expected)


def test_the_other_orders_show_the_same(bazaar: Bazaar, visitor: Visitor) -> None:
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


def test_a_product_stands_in_two_categories_under_two_urls(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("two_categories", category="bikes", share=0.3)
    guests = [each for each in listed(bazaar) if each.category != "bikes"]
    shown = {card["data-id"]: card["href"] for card in visitor.all_cards("/c/bikes")}
    assert guests
    for guest in guests:
        assert guest.other_urls == [shown[guest.id]]
        assert guest.url not in guest.other_urls
        assert visitor.ask(guest.other_urls[0]).body == visitor.ask(guest.url).body
        assert now(guest).listed
    assert len(shown) == len(listed(bazaar))
    bazaar.drop_habits()
    assert visitor.ask(guests[0].other_urls[0]).status == 200
    assert not any(now(each).listed for each in listed(bazaar) if each.category != "bikes")


# What happens to listings


@pytest.mark.parametrize(
    ("habit", "status"), [("deleted_404", 404), ("deleted_410", 410), ("deleted_soft", 200)]
)
def test_a_deleted_product_is_not_there(
    bazaar: Bazaar, visitor: Visitor, changed: Changed, habit: str, status: int
) -> None:
    for listing in changed(habit):
        answer = visitor.ask(listing.url)
        assert (answer.status, answer.page.css("h1::text").get()) == (
            status,
            "This listing is no longer available",
        )
        assert listing.state == "gone"
        assert (now(listing).listed, now(listing).page_price, now(listing).page_stock) == (False, False, None)
        assert listing.id not in {card["data-id"] for card in visitor.all_cards("/c/bikes")}


def test_a_deleted_product_leads_to_a_similar_one(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("deleted_to_similar"):
        answer = visitor.ask(listing.url)
        other = followed(visitor, answer)
        assert (answer.status, other.status) == (301, 200)
        assert other.page.css("main::attr(data-id)").get() != listing.id


def test_a_deleted_product_leads_to_its_category(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("deleted_to_category"):
        answer = visitor.ask(listing.url)
        assert (answer.status, answer.headers["Location"]) == (301, "/c/bikes")


def test_a_product_leaves_the_lists_and_its_page_lives_on(visitor: Visitor, changed: Changed) -> None:
    shown = None
    for listing in changed("deleted_unlisted"):
        shown = shown or {card["data-id"] for card in visitor.all_cards("/c/bikes")}
        answer = visitor.ask(listing.url)
        assert listing.id not in shown
        assert (answer.status, answer.product["offers"]["availability"]) == (
            200,
            "https://schema.org/InStock",
        )
        assert listing.state == "unlisted"
        assert (now(listing).listed, now(listing).page_price) == (False, True)


def test_a_renamed_product_is_the_same_under_a_new_url(visitor: Visitor, changed: Changed) -> None:
    for listing in changed("slug_renamed"):
        old, new = listing.urls
        answer = visitor.ask(old)
        assert (answer.status, answer.headers["Location"], listing.url) == (301, new, new)
        page = visitor.ask(new)
        assert page.product["productID"] == listing.id
        assert page.page.css("link[rel=canonical]::attr(href)").get() == new
        assert new in [card["href"] for card in visitor.all_cards("/c/bikes")]


def test_what_is_ordered_for_later_has_not_happened(bazaar: Bazaar, visitor: Visitor) -> None:
    chosen = listed(bazaar)[0]
    later = bazaar.now().replace(hour=23)
    bazaar.habit("slug_renamed", ids=[chosen.id], begins=later)
    bazaar.habit("maintenance", begins=later, hours=1)
    assert visitor.ask(chosen.url).status == 200
    assert bazaar.truth("bikes")[0].urls == [bazaar.truth("bikes")[0].url]
    bazaar.set_clock(later)
    assert "back soon" in visitor.ask(chosen.url).body.decode()
    bazaar.advance(hours=1)
    assert visitor.ask(chosen.url).status == 301


def test_the_catalogue_halves_and_doubles(bazaar: Bazaar, visitor: Visitor) -> None:
    before = {each.url for each in listed(bazaar)}
    bazaar.habit("catalogue_halves", category="bikes")
    half = {each.url for each in listed(bazaar)}
    assert len(half) == len(before) - round(len(before) / 2)
    assert half < before
    assert {visitor.ask(url).status for url in before - half} == {404}
    bazaar.habit("catalogue_doubles", category="bikes")
    assert len(visitor.all_cards("/c/bikes")) == 2 * len(half)
    new = {each.url for each in listed(bazaar)} - half
    assert len(new) == len(half)
    assert {visitor.ask(url).status for url in new} == {200}


def test_what_came_in_numbers_lives_like_the_others(bazaar: Bazaar, visitor: Visitor) -> None:
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


# How prices and stock are shown


def cards_with(bazaar: Bazaar, visitor: Visitor, habit: str) -> list[tuple[dict[str, str], TruthListing]]:
    bazaar.habit(habit, category="bikes", share=1.0)
    true = {each.id: each for each in listed(bazaar)}
    return [(card, true[card["data-id"]]) for card in visitor.all_cards("/c/bikes")]


def test_cards_without_a_price(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_without_price"):
        assert ("data-price" in card, card["text"]) == (False, "")
        assert (now(true).card_price, now(true).page_price) == (False, True)


def test_cards_without_stock(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_without_stock"):
        assert "data-status" not in card
        assert (now(true).card_stock, now(true).page_stock) == (None, "in")


@pytest.mark.parametrize("habit", ["cards_net_and_gross", "tax_switch"])
def test_both_prices(bazaar: Bazaar, visitor: Visitor, habit: str) -> None:
    for card, true in cards_with(bazaar, visitor, habit):
        gross, _, without = card["text"].partition(" excl. VAT: ")
        assert gross == money.shown(true.price, "EUR")
        assert without == money.shown(look.net(true.price), "EUR")
        assert "data-price" not in card
        assert (now(true).card_price, now(true).page_price) == (True, True)
    true = next(each for each in listed(bazaar) if each.markup == "jsonld")
    page = visitor.ask(true.url)
    assert page.product["offers"]["price"] == money.plain(true.price, "EUR")
    assert bool(page.page.css(".net-price")) == (habit == "tax_switch")


def test_cards_with_from_prices(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_from_price"):
        assert card["text"] == f"from {money.shown(true.price * 4 // 5, 'EUR')}"
        assert "data-price" not in card
        assert (now(true).card_price, now(true).page_price) == (False, True)


def test_a_price_for_those_who_log_in(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "logged_out_price"):
        assert ("data-price" in card, card["text"]) == (False, "Log in to see the price")
        assert (now(true).card_price, now(true).page_price) == (False, False)
        if true.markup == "jsonld":
            page = visitor.ask(true.url)
            assert "price" not in page.product["offers"]
            assert page.page.css(".buy-box .price").get() is None
            assert "€" not in "".join(page.page.css(".buy-box ::text").getall())


def test_a_page_that_contradicts_itself_does_so_for_ever(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("ambiguous_pages", category="bikes", share=0.2)
    bad = [each for each in listed(bazaar) if not now(each).page_price and each.markup != "js"]
    assert 0.1 < len(bad) / len(listed(bazaar)) < 0.3
    for days in (0, 3):
        bazaar.advance(days=days)
        for true in [each for each in listed(bazaar) if each.url in {one.url for one in bad}][:10]:
            page = visitor.ask(true.url).page
            prices = page.css(".buy-box .price::text").getall()
            assert prices == [money.shown(true.price, "EUR"), money.shown(true.price * 93 // 100, "EUR")]
            assert (now(true).card_price, now(true).page_price) == (True, False)


@pytest.mark.parametrize(
    ("habit", "stock", "words", "schema"),
    [
        ("backorder", "backorder", "Available on backorder", "https://schema.org/BackOrder"),
        ("preorder", "preorder", "Pre-order now", "https://schema.org/PreOrder"),
        ("unknown_stock", "unknown", "Ask in the shop", None),
    ],
)
def test_other_words_for_stock(
    bazaar: Bazaar, visitor: Visitor, habit: str, stock: str, words: str, schema: str | None
) -> None:
    cards = cards_with(bazaar, visitor, habit)
    assert {card["data-status"] for card, _ in cards} == {stock}
    true = next(each for _, each in cards if each.markup == "jsonld")
    page = visitor.ask(true.url)
    assert page.page.css(".item-state::text").get() == words
    assert page.product["offers"].get("availability") == schema
    assert (now(true).card_stock, now(true).page_stock) == (stock, stock)


@pytest.mark.parametrize(("habit", "currency"), [("prices_in_yen", "JPY"), ("prices_in_dinar", "KWD")])
def test_other_currencies(bazaar: Bazaar, visitor: Visitor, habit: str, currency: str) -> None:
    for card, true in cards_with(bazaar, visitor, habit):
        assert (card["data-price"], card["data-currency"]) == (str(true.price), currency)
        assert card["text"] == money.shown(true.price, currency)
        assert (true.currency, now(true).currency) == (currency, currency)
    true = next(each for each in listed(bazaar) if each.markup == "jsonld")
    offer = visitor.ask(true.url).product["offers"]
    assert (offer["price"], offer["priceCurrency"]) == (money.plain(true.price, currency), currency)


def test_amounts_have_the_decimals_of_their_currency() -> None:
    assert money.shown(1_299_900, "KWD") == "KWD 1,299.900"
    assert money.plain(1_299_900, "KWD") == "1299.900"


# Visits


def test_maintenance_is_every_page_for_an_hour(bazaar: Bazaar, visitor: Visitor) -> None:
    true = listed(bazaar)[0]
    bazaar.habit("maintenance", hours=1)
    for path in ("/", "/c/bikes", true.url, "/item/nothing-aaaaaa"):
        answer = visitor.ask(path)
        assert (answer.status, "maintenance" in answer.body.decode()) == (200, True)
    assert visitor.ask("/robots.txt").body.startswith(b"User-agent")
    bazaar.advance(hours=1)
    assert visitor.ask(true.url).page.css("main::attr(data-id)").get() == true.id
    away = next(each for each in bazaar.truth("bikes") if each.id == true.id).shown
    assert [(each.listed, each.page_price) for each in away[-3:]] == [
        (True, True),
        (False, False),
        (True, True),
    ]


def test_some_visits_get_another_layout(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("ab_layout")
    pages = [visitor.ask(f"/c/bikes?rows=10&page={number}") for number in range(1, 13)]
    tiles = [answer for answer in pages if answer.page.css("li.tile")]
    assert 0 < len(tiles) < len(pages)
    other = tiles[0]
    assert len(other.page.css("li.tile[data-id][data-price]")) == 10
    assert other.page.css("article.card").get() is None
    assert other.headers["Set-Cookie"].startswith("layout=b")
    assert all(visitor.ask(f"/c/bikes?page={n}", Cookie="layout=b").page.css("li.tile") for n in range(1, 4))


# Orders


def test_every_habit_is_known_by_name_and_can_be_ordered(bazaar: Bazaar) -> None:
    assert bazaar.known_habits() == {name: habit.about for name, habit in HABITS.items()}
    for name in HABITS:
        bazaar.habit(name, category="toys")
    assert [order.habit for order in bazaar.habits()] == list(HABITS)
    assert len(bazaar.truth("toys")) > 0
    bazaar.reset(START)
    assert bazaar.habits() == []


def test_a_habit_is_for_one_category_or_for_all(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("beyond_404", category="toys")
    assert [visitor.ask(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [404, 200]
    bazaar.habit("beyond_410")
    assert [visitor.ask(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [410, 410]
    bazaar.drop_habits("beyond_410")
    assert [visitor.ask(f"/c/{name}?page=99").status for name in ("toys", "bikes")] == [404, 200]


def test_reset_forgets_habits(bazaar: Bazaar, visitor: Visitor) -> None:
    before, page = bazaar.truth(), visitor.ask("/c/bikes").body
    for name in HABITS:
        bazaar.habit(name)
    bazaar.reset(START)
    assert (bazaar.truth(), visitor.ask("/c/bikes").body) == (before, page)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ({"habit": "shouting"}, "habit must be one of beyond_404,"),
        ({"habit": "backorder", "category": "boats"}, "There is no category boats."),
        ({"habit": "backorder", "ids": ["1"]}, "There is no listing 1."),
        ({"habit": "backorder", "ids": "1"}, "ids must be a list of strings."),
        ({"habit": "backorder", "hours": -1}, "hours must be a number of at least 0."),
        ({"habit": "backorder", "ends": "2000-01-01"}, "ends must not be before begins."),
        ({"habit": "backorder", "loud": True}, "Not understood: loud."),
    ],
)
def test_a_bad_order_is_refused_in_a_sentence(
    bazaar: Bazaar, order: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BazaarError, match=sentence):
        bazaar._order("POST", "habits", order)
    with pytest.raises(BazaarError, match="There is no habit shouting"):
        bazaar.drop_habits("shouting")
    assert bazaar.habits() == []


def test_the_command_line_knows_habits() -> None:
    command = [sys.executable, "-m", "pricewatch.bazaar"]
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"  {name} " in told and habit.about in told for name, habit in HABITS.items())
    refused = subprocess.run([*command, "--habits", "shouting"], capture_output=True, text=True)
    assert (refused.returncode, "there is no habit 'shouting'" in refused.stderr) == (2, True)
    with Bazaar.start(listings=60, habits="beyond_410,cards_without_price@toys") as bazaar:
        assert [(each.habit, each.category) for each in bazaar.habits()] == [
            ("beyond_410", None),
            ("cards_without_price", "toys"),
        ]
        assert json.loads(Visitor(bazaar.url).ask("/_control/habits").body)["ordered"][0]["share"] == 1.0
