"""sgammo.com, on pages written after what is known of its shape."""

from __future__ import annotations

import pytest

from pricewatch.adapters.ammunition import ammunition
from pricewatch.adapters.base import MarketQuery
from pricewatch.adapters.sgammo import SgammoAdapter
from pricewatch.rules.validation import validate_offer
from tests.adapters.site_fixtures import cases, check, expected, page_body, respond

SITE = "https://www.sgammo.com"


@pytest.mark.parametrize("case", cases("sgammo"))
def test_saved_page(case):
    check("sgammo", case)


@pytest.mark.parametrize(
    ("title", "facts"),
    [
        (
            "20 Round Box - 5.56 NATO 62 Grain FMJ Steel Core, Brass Cased",
            {
                "caliber": "5.56x45mm NATO",
                "grain_weight": 62.0,
                "round_count": 20.0,
                "case_material": "brass",
            },
        ),
        (
            "1,000 Round Case .223 Rem 55gr Hollow Point Steel Case",
            {
                "caliber": ".223 Remington",
                "round_count": 1000.0,
                "case_material": "steel",
                "bullet_type": "HP",
            },
        ),
        (
            "250 rds 12 Gauge 00 Buckshot",
            {"caliber": "12 gauge", "round_count": 250.0, "bullet_type": "buckshot"},
        ),
        ("40 S&W 180 grain Jacketed Hollow Point", {"caliber": ".40 S&W", "bullet_type": "JHP"}),
        ("Range bag, black", {}),
    ],
)
def test_ammunition(title, facts):
    assert facts.items() <= ammunition(title, "").items()


def test_the_title_comes_before_the_description():
    found = ammunition("50 Rounds 9mm", "Also in cases of 1,000 rounds. 115 grain, brass case.")
    assert (found["round_count"], found["grain_weight"], found["case_material"]) == (50.0, 115.0, "brass")


@pytest.mark.parametrize(
    ("tiers", "outcome"),
    [
        ("1-4: $13.95, 5-9: $13.50, 10+: $12.95", 1395),
        ("1: $13.95 5+: $12.95", 1395),
        ("5-9: $12.95, 10+: $12.95", 1295),
        ("5-9: $13.50, 10+: $12.95", "PRICE_NOT_FOUND"),
        ("10+: $12.95", "PRICE_NOT_FOUND"),
        ("1-4: $1?.95, 5-9: $13.50, 10+: $12.95", "PRICE_NOT_FOUND"),
        ("$0.28 per round", "PRICE_NOT_FOUND"),
    ],
)
def test_the_price_is_that_of_one(tiers, outcome):
    url = expected("sgammo", "tiers_in_words")["url"]
    html = page_body("sgammo", "tiers_in_words").decode()
    html = html.replace("1-4: $13.95, 5-9: $13.50, 10+: $12.95", tiers)
    result = SgammoAdapter().extract(respond(url, html.encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents if offer else str(result.reason)) == outcome  # type: ignore[union-attr]


def test_a_tier_of_several_is_no_match_for_a_cheaper_price_beside_it():
    url, html = expected("sgammo", "tiers_disagree")["url"], page_body("sgammo", "tiers_disagree").decode()
    result = SgammoAdapter().extract(respond(url, html.replace("<td>1-4</td>", "<td>2-4</td>").encode()))
    assert str(result.reason) == "AMBIGUOUS_PRICE"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        ("<del>$260.00</del> <ins>$249.00</ins>", 24900),
        (
            (
                '<del>$260.00</del> <span class="screen-reader-text">Original price was: $260.00.</span>'
                '<ins>$249.00</ins><span class="screen-reader-text">Current price is: $249.00.</span>'
            ),
            24900,
        ),
        ("<del>$260.00</del> $255.00 <ins>$249.00</ins>", None),
        ("<ins>$249.00</ins> $18.00 – $19.95", None),
    ],
)
def test_beside_a_crossed_out_price_stands_its_successor_and_nothing_else(price, cents):
    url, html = expected("sgammo", "category")["url"], page_body("sgammo", "category").decode()
    reduced = "<del><bdi>$260.00</bdi></del> <ins><bdi>$249.00</bdi></ins>"
    assert reduced in html
    overview = SgammoAdapter().read_overview(respond(url, html.replace(reduced, price).encode()))
    assert overview.cards[1].price_cents == cents  # type: ignore[union-attr]


def test_a_price_that_another_product_has_lost_is_held():
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    result = SgammoAdapter().extract(respond(url, html.replace("<bdi>$7.49</bdi>", "").encode()))
    assert str(result.reason) == "AMBIGUOUS_PRICE"  # type: ignore[union-attr]


@pytest.mark.parametrize(("told", "outcome"), [("13.95", 1395), ("11.00", "AMBIGUOUS_PRICE")])
def test_json_ld_has_to_agree_with_the_page(told, outcome):
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    data = f'{{"@type": "Product", "name": "9mm", "offers": {{"@type": "Offer", "price": "{told}"}}}}'
    script = f'<script type="application/ld+json">{data}</script></head>'
    result = SgammoAdapter().extract(respond(url, html.replace("</head>", script).encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents if offer else str(result.reason)) == outcome  # type: ignore[union-attr]


def test_no_word_about_stock_is_a_reason_to_drop():
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    bare = html.replace("In stock", "").replace("Add to cart", "")
    result = SgammoAdapter().extract(respond(url, bare.encode()))
    verdict = validate_offer(result.offer)  # type: ignore[union-attr, arg-type]
    assert str(verdict.reason) == "UNKNOWN_AVAILABILITY"  # type: ignore[union-attr]


def test_urls():
    adapter = SgammoAdapter()
    (page,) = adapter.start_pages({"category": "9mm-luger-ammo"})
    assert adapter.overview_url(MarketQuery(SITE, page, 30), 1) == f"{SITE}/product-category/9mm-luger-ammo/"
    assert adapter.overview_url(MarketQuery(SITE, page, 30), 2) == (
        f"{SITE}/product-category/9mm-luger-ammo/page/2/"
    )
    (search,) = adapter.start_pages({"keyword": "7.62 x 39"})
    assert adapter.overview_url(MarketQuery(SITE, search, 30), 2) == (
        f"{SITE}/page/2/?s=7.62%20x%2039&post_type=product"
    )
    assert adapter.start_pages({}) == []


@pytest.mark.parametrize(
    ("classes", "stock"),
    [
        ("instock", "IN_STOCK"),
        ("outofstock sale", "OUT_OF_STOCK"),
        ("onbackorder", "BACKORDER"),
        # A theme that leaves it out says nothing of stock.
        ("sale", None),
    ],
)
def test_the_stock_of_a_card_is_what_its_class_says(classes, stock):
    html = page_body("sgammo", "category").decode().replace("post-4711 instock", f"post-4711 {classes}")
    overview = SgammoAdapter().read_overview(respond(f"{SITE}/product-category/rifle/", html.encode()))
    assert overview.cards[0].availability == stock  # type: ignore[union-attr]
