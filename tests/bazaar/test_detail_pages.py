"""Product pages: each kind of markup, and each state of a listing."""

import json
from collections.abc import Callable

import pytest
from parsel import Selector

from pricewatch.bazaar import amounts
from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.bazaar.visitor import Visitor, VisitorResponse

Pick = Callable[..., TruthListing]


@pytest.fixture
def pick(bazaar: Bazaar) -> Pick:
    """Return a function that finds a listing with the given attributes."""

    def find(**wanted: object) -> TruthListing:
        return next(one for one in bazaar.truth() if all(getattr(one, k) == v for k, v in wanted.items()))

    return find


def displayed_price(answer: VisitorResponse) -> str | None:
    return answer.page.css(".buy-box .price::text").get()


@pytest.mark.parametrize("category", ["bikes", "cameras", "instruments", "rentals"])
def test_json_ld_is_a_product_with_one_offer(visitor: Visitor, pick: Pick, category: str) -> None:
    listing = pick(category=category, markup="jsonld", state="on_sale")
    answer = visitor.request(listing.url)
    offer = answer.product["offers"]
    assert answer.product["name"] == listing.title
    assert answer.product["productID"] == listing.id
    assert offer["price"] == amounts.decimal(listing.price, listing.currency)
    assert offer["priceCurrency"] == listing.currency
    assert offer["availability"] == "https://schema.org/InStock"
    assert displayed_price(answer) == amounts.displayed(listing.price, listing.currency)


def test_every_jsonld_page_parses(bazaar: Bazaar, visitor: Visitor) -> None:
    some = [one for one in bazaar.truth() if one.markup == "jsonld" and one.state != "gone"][:60]
    for listing in some:
        assert visitor.request(listing.url).product["name"] == listing.title


def test_titles_are_escaped(bazaar: Bazaar, visitor: Visitor) -> None:
    title = '</script><b>"bold" & cheap</b>'
    for markup in ("jsonld", "microdata"):
        listing = bazaar.add("toys", title, 100, markup=markup)
        answer = visitor.request(listing.url)
        assert answer.page.css("h1::text").get() == title
        assert answer.page.css("b").get() is None
        assert markup != "jsonld" or answer.product["name"] == title
        assert visitor.request("/c/toys").cards[0]["title"] == title


def test_microdata_has_the_same_facts(visitor: Visitor, pick: Pick) -> None:
    listing = pick(markup="microdata", state="on_sale")
    page = visitor.request(listing.url).page
    assert page.css('[itemtype$="/Product"] > [itemprop="name"]::text').get() == listing.title
    assert page.css('[itemprop="price"]::attr(content)').getall() == [
        amounts.decimal(listing.price, listing.currency)
    ]
    assert page.css('[itemprop="availability"]::attr(href)').get() == "https://schema.org/InStock"
    assert page.css('script[type="application/ld+json"]').get() is None


def test_a_plain_page_has_its_price_only_in_visible_text(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = next(
        one
        for one in bazaar.truth("bikes")
        if one.markup == "plain" and one.state == "on_sale" and one.price > 20_000
    )
    answer = visitor.request(listing.url)
    page = answer.page
    assert not page.css('[itemprop], script[type="application/ld+json"], meta[property]')
    assert displayed_price(answer) == amounts.displayed(listing.price, "EUR")
    # Amounts that are not the price.
    for decoy in (".shipping", ".instalments", ".banner", ".related-price", ".gift"):
        assert "€" in "".join(page.css(f"{decoy}::text").getall())


def test_a_javascript_page_is_empty_and_loads_json(visitor: Visitor, pick: Pick) -> None:
    listing = pick(markup="js", state="on_sale")
    answer = visitor.request(listing.url)
    assert listing.title not in answer.body.decode()
    assert answer.page.css("noscript")
    data = json.loads(visitor.request(answer.page.css("#app::attr(data-api)").get("")).body)
    assert data["jsonld"]["offers"]["price"] == amounts.decimal(listing.price, listing.currency)
    price = amounts.displayed(listing.price, listing.currency)
    assert Selector(text=data["buy_box"]).css("strong.price::text").get() == price
    assert "fetch(" in visitor.request(answer.page.css("script::attr(src)").get("")).body.decode()


def test_pages_have_the_configured_size(visitor: Visitor, bazaar: Bazaar) -> None:
    sizes = {len(visitor.request(one.url).body) for one in bazaar.truth("toys") if one.state == "on_sale"}
    assert sizes == {17_000}


def test_shops_show_trade_numbers(bazaar: Bazaar, visitor: Visitor) -> None:
    products = [
        visitor.request(one.url).product
        for one in bazaar.truth("laptops")
        if one.markup == "jsonld" and one.state == "on_sale"
    ]
    traded = [product for product in products if "gtin13" in product]
    assert traded
    for product in traded:
        digits = [int(digit) for digit in product["gtin13"]]
        assert len(digits) == 13
        assert (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0
        assert product["offers"]["seller"]["@type"] == "Organization"


def test_a_sold_page_shows_the_date(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = bazaar.add("bikes", "Waffenrad", 19900)
    at = bazaar.advance(hours=5)
    bazaar.change(listing.id, end="sold")
    answer = visitor.request(listing.url)
    assert answer.status == 200
    assert "SOLD" in answer.page.css(".item-state::text").get("")
    assert answer.page.css(".sold-at::attr(datetime)").get() == at.isoformat().replace("+00:00", "Z")
    assert answer.product["offers"]["availability"] == "https://schema.org/SoldOut"
    assert listing.id not in visitor.request("/c/bikes").ids
    assert listing.id in visitor.request("/search?status=sold&q=waffenrad").ids


@pytest.mark.parametrize(("mode", "status"), [("404", 404), ("410", 410), ("soft", 200)])
def test_a_gone_listing_is_answered_by_its_mode(
    bazaar: Bazaar, visitor: Visitor, mode: str, status: int
) -> None:
    listing = bazaar.add("bikes", f"Hochrad {mode}", 29900)
    bazaar.change(listing.id, end=mode)
    answer = visitor.request(listing.url)
    assert answer.status == status
    assert answer.page.css("h1::text").get() == "This listing is no longer available"
    # The price of another listing.
    assert "€" in answer.page.css(".promo .related-price::text").get("")
    assert "€ 299,00" not in answer.body.decode()
    assert listing.id not in visitor.request("/c/bikes").ids


@pytest.mark.parametrize("new_id", [False, True])
def test_a_gone_listing_can_be_relisted(bazaar: Bazaar, visitor: Visitor, new_id: bool) -> None:
    listing = bazaar.add("bikes", "Tandem", 45000)
    bazaar.change(listing.id, end="404")
    bazaar.advance(days=3)
    back = bazaar.relist(listing.id, new_id=new_id)
    assert (back.id != listing.id) is new_id
    assert (back.url, back.state) == (listing.url, "on_sale")
    answer = visitor.request(listing.url)
    assert answer.page.css("main::attr(data-id)").get() == back.id
    top = visitor.request("/c/bikes").cards[0]
    assert (top["data-id"], top["href"]) == (back.id, listing.url)
    assert visitor.request(f"/api/listing/{back.id}").status == 200
    assert visitor.request(f"/api/listing/{listing.id}").status == (404 if new_id else 200)


def test_a_generated_relisting_under_a_new_id_keeps_its_url(bazaar: Bazaar, visitor: Visitor) -> None:
    now = bazaar.advance(days=40)
    renamed = [one for one in bazaar.truth() if len(one.ids) > 1 and one.state == "on_sale"]
    generated = [one for one in renamed if one.spans[0][1] != one.listed_at]
    assert generated
    for listing in generated[:4]:
        bazaar.set_clock(now)
        page = visitor.request(listing.url).page
        assert listing.id == listing.ids[-1]
        assert page.css("main::attr(data-id), #app::attr(data-api)").get("").endswith(listing.id)
        gone = [span for span in listing.spans if span[2] == "gone"]
        bazaar.set_clock(gone[0][0])
        assert visitor.request(listing.url).status == (200 if gone[0][3] == "soft" else int(gone[0][3] or 0))
        bazaar.advance(seconds=-1)
        before = visitor.request(listing.url).page
        assert before.css("main::attr(data-id), #app::attr(data-api)").get("").endswith(listing.ids[0])


@pytest.mark.parametrize(("stock", "price"), [("out", "€ 89,90"), ("hidden", None)])
def test_out_of_stock_with_and_without_a_price(
    bazaar: Bazaar, visitor: Visitor, stock: str, price: str | None
) -> None:
    listing = bazaar.add("bikes", "Einrad", 8990)
    bazaar.change(listing.id, stock=stock)
    answer = visitor.request(listing.url)
    assert answer.page.css(".item-state::text").get() == "Out of stock"
    assert answer.page.css(".buy").get() is None
    assert displayed_price(answer) == price
    offer = answer.product["offers"]
    assert offer["availability"] == "https://schema.org/OutOfStock"
    assert ("price" in offer) is (price is not None)
    assert ("data-price" in visitor.request("/c/bikes").cards[0]) is (price is not None)
    bazaar.change(listing.id, stock="in")
    assert displayed_price(visitor.request(listing.url)) == "€ 89,90"


def test_a_manual_price_change_is_visible_on_all_pages_at_once(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = bazaar.add("bikes", "Klapprad", 12000)
    assert displayed_price(visitor.request(listing.url)) == "€ 120,00"
    now = bazaar.advance(hours=1)
    changed = bazaar.change(listing.id, price=9900, title="Klapprad, günstig")
    answer = visitor.request(listing.url)
    assert displayed_price(answer) == "€ 99,00"
    assert answer.page.css(".old-price::text").get() == "€ 120,00"
    assert answer.page.css("h1::text").get() == "Klapprad, günstig"
    assert visitor.request("/c/bikes").cards[0]["data-price"] == "9900"
    assert [price for _, price in changed.prices] == [12000, 9900]
    assert changed.prices[-1][0] == now
