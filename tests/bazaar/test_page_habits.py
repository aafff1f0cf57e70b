"""Habits of product pages: what a reader that does not know the site has to cope with."""

import json
import re

import pytest
from parsel import Selector

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.client import Bazaar, TruthListing
from pricewatch.bazaar.habits.page_habits import PAGES
from pricewatch.bazaar.skins import hashed_names
from tests.bazaar.ground_truth import listed, shown_now
from tests.bazaar.visitor import Visitor

BESIDE = ("levy", "deposit", "member-price", "financing", "unit-price", "trade-in", "without-tax")
STRUCTURED = 'script[type="application/ld+json"], [itemprop], meta[property]'


def on_sale(bazaar: Bazaar, category: str = "bikes", **wanted: object) -> list[TruthListing]:
    return [
        each
        for each in bazaar.truth(category)
        if each.state == "on_sale" and all(getattr(each, name) == value for name, value in wanted.items())
    ]


def page_names(page: Selector) -> set[str]:
    """Return the names of all classes and ids."""
    return {name for text in page.xpath("//@class | //@id").getall() for name in text.split()}


def script_data(visitor: Visitor, true: TruthListing) -> dict[str, object]:
    data: dict[str, object] = json.loads(visitor.request(f"/api/listing/{true.id}").body)
    return data


@pytest.mark.parametrize("markup", ["jsonld", "microdata", "plain", "js"])
def test_names_are_hashes_and_everything_else_stays(bazaar: Bazaar, visitor: Visitor, markup: str) -> None:
    true = on_sale(bazaar, markup=markup)[0]
    before = visitor.request(true.url).page
    bazaar.habit("hashed_names")
    after = visitor.request(true.url).page
    names = page_names(after)
    assert len(names) == len(page_names(before)) > 3
    assert all(re.fullmatch(r"_[0-9a-f]{6}", name) for name in names)
    assert (
        after.xpath("//text()[not(parent::style)]").getall()
        == before.xpath("//text()[not(parent::style)]").getall()
    )
    assert len(after.css(STRUCTURED)) == len(before.css(STRUCTURED))
    assert visitor.request(true.url).page.get() == after.get()
    assert "card" in page_names(visitor.request("/c/bikes").page)


def test_scripts_use_hashed_names_too(bazaar: Bazaar, visitor: Visitor) -> None:
    true = on_sale(bazaar, markup="js")[0]
    assert script_data(visitor, true)["names"] == {}
    bazaar.habit("hashed_names")
    data = script_data(visitor, true)
    assert data["names"] == hashed_names.SCRIPT_NAMES
    assert set(hashed_names.SCRIPT_NAMES) >= {"item", "item-title", "buy-box", "related-price"}
    assert all(name.startswith("_") for name in page_names(Selector(text=str(data["buy_box"]))))


@pytest.mark.parametrize("markup", ["jsonld", "microdata", "plain"])
def test_pages_have_no_structured_data(bazaar: Bazaar, visitor: Visitor, markup: str) -> None:
    bazaar.habit("no_structured_data")
    true = on_sale(bazaar, markup=markup)[0]
    page = visitor.request(true.url).page
    assert not page.css(STRUCTURED)
    assert not page.css("[itemscope]")
    assert page.css(".buy-box .price::text").get() == amounts.displayed(true.price, "EUR")


def test_script_adds_no_structured_data(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("no_structured_data")
    assert script_data(visitor, on_sale(bazaar, markup="js")[0])["jsonld"] is None


def test_structured_data_has_the_crossed_out_price(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("stale_structured_data")
    stale = 0
    for true in on_sale(bazaar, markup="jsonld")[:20]:
        answer = visitor.request(true.url)
        price = amounts.displayed(true.price, "EUR")
        assert answer.page.css(".buy-box .price::text").get() == price
        old = answer.page.css(".buy-box s::text").get(price)
        stated = round(100 * float(answer.product["offers"]["price"]))
        assert (amounts.displayed(stated, "EUR"), stated >= true.price) == (old, True)
        assert shown_now(true).page_price
        stale += stated > true.price
    assert stale > 10
    true = on_sale(bazaar, markup="microdata")[0]
    page = visitor.request(true.url).page
    stated = round(100 * float(page.css('[itemprop="price"]::attr(content)').get("")))
    assert amounts.displayed(stated, "EUR") == page.css(".buy-box s::text").get()


@pytest.mark.parametrize(
    ("category", "levy"),
    [("bikes", "inkl. {} Urheberrechtsabgabe"), ("instruments", "incl. {} copyright levy")],
)
def test_other_amounts_stand_beside_the_price(
    bazaar: Bazaar, visitor: Visitor, category: str, levy: str
) -> None:
    bazaar.habit("amounts_beside")
    first = set()
    for true in on_sale(bazaar, category, markup="plain"):
        page = visitor.request(true.url).page
        lines = {name: page.css(f".buy-box p.{name}::text").getall() for name in BESIDE}
        assert all(len(texts) == 1 for texts in lines.values())
        assert lines["levy"] == [levy.format(amounts.displayed(true.price // 50, true.currency))]
        net = amounts.displayed(presentation.net_price(true.price), true.currency)
        assert lines["without-tax"][0].startswith(f"{net} ")
        price = amounts.displayed(true.price, true.currency)
        assert page.css(".buy-box .price::text").getall() == [price]
        assert not any(price in texts[0] for texts in lines.values())
        first.add(page.css(".buy-box p::attr(class)").get())
    assert first == {"levy", "item-price"}


def test_rents_and_hidden_prices_have_no_amounts_beside_them(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("amounts_beside")
    rent = on_sale(bazaar, "rentals", markup="plain")[0]
    assert not visitor.request(rent.url).page.css(".levy")
    bazaar.habit("logged_out_price", share=1.0)
    assert not visitor.request(on_sale(bazaar, markup="plain")[0].url).page.css(".levy")


@pytest.mark.parametrize("markup", ["jsonld", "microdata", "plain"])
def test_script_adds_the_price(bazaar: Bazaar, visitor: Visitor, markup: str) -> None:
    true = on_sale(bazaar, markup=markup)[0]
    whole = visitor.request(true.url).page.css(".buy-box")
    bazaar.habit("price_by_script")
    answer = visitor.request(true.url)
    page, price = answer.page, amounts.displayed(true.price, "EUR")
    assert page.css("h1::text").get() == true.title
    assert page.css(".description p")
    assert price not in answer.body.decode()
    assert page.css(".buy-box > *").getall() == ['<button class="buy" disabled>Please wait</button>']
    assert not page.css('[itemprop="offers"], [itemprop="price"]')
    if markup == "jsonld":
        assert "offers" not in answer.product
        assert answer.product["productID"] == true.id
    script = visitor.request(page.css("main script::attr(src)").get(""))
    assert (script.status, "fetch(" in script.body.decode()) == (200, True)
    data = json.loads(visitor.request(page.css("[data-offer]::attr(data-offer)").get("")).body)
    added = Selector(text=data["buy_box"])
    assert added.css("strong.price::text").get() == price
    assert added.css("button:not([disabled])::text").get() == whole.css("button::text").get() == "Buy now"


def test_adverts_have_a_contact_button_and_no_cart(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("advert")
    for true in on_sale(bazaar, markup="plain"):
        page = visitor.request(true.url).page
        assert page.css("button::text").getall() == ["Contact the seller"]
        assert not page.css(".item-state, .shipping, .instalments")
        assert page.css(".buy-box .price::text").get() == amounts.displayed(true.price, "EUR")
    true = on_sale(bazaar, markup="plain")[0]
    bazaar.change(true.id, end="sold")
    page = visitor.request(true.url).page
    assert (page.css("button").get(), page.css(".item-state::text").get()) == (None, "SOLD on ")


def test_page_habits_can_be_combined(bazaar: Bazaar, visitor: Visitor) -> None:
    for habit in PAGES:
        bazaar.habit(habit.name)
    bazaar.habit("no_structured_data")
    true = on_sale(bazaar, markup="jsonld")[0]
    page = visitor.request(true.url).page
    assert not page.css(STRUCTURED)
    assert all(name.startswith("_") for name in page_names(page))
    added = Selector(text=str(script_data(visitor, true)["buy_box"]))
    texts = " ".join(added.css("::text").getall())
    assert "Contact the seller" in texts
    assert "Urheberrechtsabgabe" in texts
    assert amounts.displayed(true.price, "EUR") in texts
    assert [shown_now(each).card_price for each in listed(bazaar)][:3] == [True] * 3
