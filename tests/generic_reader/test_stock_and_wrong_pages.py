"""Real cases of misread availability and of pages without a product; numbered by case."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest

from pricewatch.adapters.base import Presence
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure
from tests.generic_reader.pages import SHOP, buy, ld, outcome, page, product, response

WRONG_STOCK = [
    # 12: no phrase, or a phrase about something else, leaves the availability unknown.
    (
        "not stated",
        '<h1>Blue Kettle</h1><div class="price">€19.99</div>' + ld(product(offer={"availability": ""})),
        "UNKNOWN",
    ),
    (
        "another size out of stock",
        ld(product()) + buy("€19.99") + "<select><option>XL - out of stock</option></select>",
        "IN_STOCK",
    ),
    (
        "250 in stock, other size out",
        buy("€19.99") + '<p>250 in stock</p><ul class="swatches"><li>XL: out of stock</li></ul>',
        "IN_STOCK",
    ),
    (
        "the page says out of stock",
        ld(product()) + '<h1>Blue Kettle</h1><b class="price">€19.99</b><p>Out of stock</p>',
        "OUT_OF_STOCK",
    ),
    (
        "metadata out, page in",
        ld(product(offer={"availability": "OutOfStock"})) + buy("€19.99") + "<p>In stock</p>",
        "UNKNOWN",
    ),
    (
        "both on the page",
        '<h1>Blue Kettle</h1><b class="price">€19.99</b><p>In stock</p><p>Sold out</p>'
        + ld(product(offer={"availability": ""})),
        "UNKNOWN",
    ),
    ("not in this store", ld(product()) + buy("€19.99") + "<p>Not available in your store</p>", "IN_STOCK"),
    # 13: orders for later
    (
        "PreOrder",
        ld(product(offer={"availability": "https://schema.org/PreOrder"}))
        + buy("€19.99", button="Pre-order now"),
        "BACKORDER",
    ),
    ("BackOrder", ld(product(offer={"availability": "BackOrder"})) + buy("€19.99"), "BACKORDER"),
    (
        "pre-order phrase",
        '<h1>Blue Kettle</h1><b class="price">€19.99</b><p>Available for pre-order</p><button>Buy now</button>',
        "BACKORDER",
    ),
    (
        "sold out in a shop",
        ld(product(offer={"availability": "SoldOut"})) + '<h1>Blue Kettle</h1><b class="price">€19.99</b>',
        "OUT_OF_STOCK",
    ),
    (
        "sold on a marketplace",
        ld(product()) + '<h1>Blue Kettle</h1><b class="price">€19.99</b><p>This item has been sold</p>',
        "SOLD",
    ),
]


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in WRONG_STOCK], ids=[case[0] for case in WRONG_STOCK]
)
def test_availability_is_read(body, expected):
    assert outcome(page(body)) == f"19.99 EUR {expected}"


def test_out_of_stock_page_does_not_use_prices_of_other_products():  # 14
    related = '<div class="grid"><article><a href="/p/red-kettle-9"><img alt="Red Kettle"><h3>Red Kettle</h3></a><span class="price">€9.00</span></article></div>'
    body = (
        ld(product("", offer={"availability": "OutOfStock"}))
        + f"<main><h1>Blue Kettle</h1><p>Sold out</p>{related}</main>"
    )
    assert outcome(page(body)) == "OOS_NO_PRICE"


WRONG_PAGE = [
    # 11, 15: block pages and empty pages
    ("403", page(buy("€19.99")), 403, "BLOCKED_PAGE"),
    ("429", page("slow down"), 429, "BLOCKED_PAGE"),
    (
        "captcha",
        page("<form>Enter the characters you see below</form>", title="Robot Check"),
        200,
        "BLOCKED_PAGE",
    ),
    ("just a moment", page("<p>Checking your browser</p>", title="Just a moment..."), 200, "BLOCKED_PAGE"),
    (
        "queue",
        page(
            "<h1>You are now in line</h1><p>Your place in line: 4711. Tickets from €49.00</p>", title="Queue"
        ),
        200,
        "BLOCKED_PAGE",
    ),
    (
        "turn JavaScript on",
        page("<div id=app></div><noscript>Please enable JavaScript to continue</noscript>", title="Shop"),
        200,
        "BLOCKED_PAGE",
    ),
    ("blank render", page("<div id=root></div>", title="Shop"), 200, "EMPTY_PAGE"),
    ("nothing", "", 200, "EMPTY_PAGE"),
    (
        "challenge without words",
        page('<div id="px-captcha"></div><script src="/px/captcha.js"></script>', title="Shop"),
        200,
        "BLOCKED_PAGE",
    ),
    (
        "a shop that loads a bot-protection script",
        page(
            buy("€19.99"),
            '<script src="https://js.datadome.co/tags.js"></script><script src="/cdn-cgi/challenge-platform/h/b/x.js"></script>',
        ),
        200,
        "19.99 EUR IN_STOCK",
    ),
    (
        "a shop with a captcha in its newsletter",
        page(
            ld(product()) + buy("€19.99") + '<footer><div class="g-recaptcha"></div>I am not a robot</footer>'
        ),
        200,
        "19.99 EUR IN_STOCK",
    ),
    # 16: soft 404
    (
        "gone, with a banner",
        page(
            '<h1>This product is no longer available</h1><div class="price">Deal of the day €9.99</div><button>Buy now</button>'
        ),
        200,
        "PAGE_STRUCTURE_CHANGED",
    ),
    (
        "gone, in German",
        page(
            '<h1>Seite nicht gefunden</h1><b class="price">9,99 €</b><button>In den Warenkorb</button>',
            lang="de",
        ),
        200,
        "PAGE_STRUCTURE_CHANGED",
    ),
    ("404", page(buy("€19.99")), 404, "PAGE_STRUCTURE_CHANGED"),
    # 17: another page than the one requested
    (
        "category",
        page(
            '<h1>Kettles</h1><ul><li><a href="/p/1"><h3>Red Kettle</h3><b class="price">€9</b></a></li><li><a href="/p/2"><h3>Tea Kettle</h3><b class="price">€8</b></a></li></ul>'
        ),
        200,
        "PRICE_NOT_FOUND",
    ),
    (
        "login",
        page(
            "<h1>Sign in</h1><form>E-mail Password <button>Sign in</button></form> to see your orders and more"
        ),
        200,
        "PRICE_NOT_FOUND",
    ),
]


@pytest.mark.parametrize(
    ("html", "status", "expected"), [case[1:] for case in WRONG_PAGE], ids=[case[0] for case in WRONG_PAGE]
)
def test_pages_without_a_product_give_no_price(html, status, expected):
    assert outcome(html, status=status) == expected


@pytest.mark.parametrize(
    ("requested", "final_url"),
    [
        ("https://shop.example/p/blue-kettle-1234", "https://shop.example/p/red-kettle-9999"),
        ("https://shop.example/p/blue-kettle", "https://shop.example/"),
        ("https://shop.example/p/blue-kettle", "https://shop.example/kettles"),
        ("https://shop.example/p/blue-kettle-1234", "https://other.example/p/blue-kettle-1234"),
    ],
)
def test_redirect_to_another_page_gives_no_price(requested, final_url):  # 17
    result = GenericAdapter().extract(
        response(page(ld(product()) + buy("€19.99")), final_url, requested=requested)
    )
    assert isinstance(result, ExtractFailure)
    assert requested in result.details


@pytest.mark.parametrize(
    "final_url",
    ["https://shop.example/p/blue-kettle-1234/", "https://www.shop.example/new/azure-kettle-1234?from=x"],
)
def test_redirect_to_the_same_product_is_accepted(final_url):
    result = GenericAdapter().extract(
        response(page(ld(product()) + buy("€19.99")), final_url, requested=SHOP)
    )
    assert isinstance(result, Extracted)


@pytest.mark.parametrize(
    ("html", "presence"),
    [
        (page(buy("€19.99")), Presence.ALIVE),
        (page("<h1>This listing has expired</h1>"), Presence.GONE),
        (page("<h1>Blue Kettle</h1><p>This item has been sold</p>"), Presence.SOLD),
        (page("<p>Checking your browser</p>", title="Just a moment..."), Presence.UNKNOWN),
        ("", Presence.UNKNOWN),
    ],
)
def test_presence_is_read_from_the_page(html, presence):
    assert GenericAdapter().presence(response(html)).presence is presence
