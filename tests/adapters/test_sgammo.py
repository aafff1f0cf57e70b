"""sgammo.com, on handwritten pages with the structure of the site."""

from __future__ import annotations

import pytest

from pricewatch.adapters.ammunition import ammunition
from pricewatch.adapters.base import MarketQuery
from pricewatch.adapters.sgammo import SgammoAdapter
from pricewatch.rules.validation import validate_offer
from tests.adapters.site_fixtures import cases, check, expected, page_body, respond

SITE = "https://www.sgammo.com"


@pytest.mark.parametrize("case", cases("sgammo"))
def test_saved_page_gives_the_expected_result(case):
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
def test_ammunition_attributes_from_the_title(title, facts):
    assert facts.items() <= ammunition(title, "").items()


def test_title_takes_precedence_over_description():
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
def test_price_of_one_unit_counts(tiers, outcome):
    url = expected("sgammo", "tiers_in_words")["url"]
    html = page_body("sgammo", "tiers_in_words").decode()
    html = html.replace("1-4: $13.95, 5-9: $13.50, 10+: $12.95", tiers)
    result = SgammoAdapter().extract(respond(url, html.encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents if offer else str(result.reason)) == outcome  # type: ignore[union-attr]


def test_tier_above_the_displayed_price_is_ambiguous():
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
def test_only_the_replacement_of_a_crossed_out_price_counts(price, cents):
    url, html = expected("sgammo", "category")["url"], page_body("sgammo", "category").decode()
    reduced = "<del><bdi>$260.00</bdi></del> <ins><bdi>$249.00</bdi></ins>"
    assert reduced in html
    overview = SgammoAdapter().read_overview(respond(url, html.replace(reduced, price).encode()))
    assert overview.cards[1].price_cents == cents  # type: ignore[union-attr]


def test_missing_price_of_another_product_is_quarantined():
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    result = SgammoAdapter().extract(respond(url, html.replace("<bdi>$7.49</bdi>", "").encode()))
    assert str(result.reason) == "AMBIGUOUS_PRICE"  # type: ignore[union-attr]


@pytest.mark.parametrize(("ld_price", "outcome"), [("13.95", 1395), ("11.00", "AMBIGUOUS_PRICE")])
def test_json_ld_must_agree_with_the_page(ld_price, outcome):
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    data = f'{{"@type": "Product", "name": "9mm", "offers": {{"@type": "Offer", "price": "{ld_price}"}}}}'
    script = f'<script type="application/ld+json">{data}</script></head>'
    result = SgammoAdapter().extract(respond(url, html.replace("</head>", script).encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents if offer else str(result.reason)) == outcome  # type: ignore[union-attr]


def test_offer_without_availability_is_dropped():
    url, html = expected("sgammo", "one_price")["url"], page_body("sgammo", "one_price").decode()
    bare = html.replace("In stock", "").replace("Add to cart", "")
    result = SgammoAdapter().extract(respond(url, bare.encode()))
    verdict = validate_offer(result.offer)  # type: ignore[union-attr, arg-type]
    assert str(verdict.reason) == "UNKNOWN_AVAILABILITY"  # type: ignore[union-attr]


def test_urls_of_searches_and_pages_are_built():
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
        # Without a stock class, the card does not state availability.
        ("sale", None),
    ],
)
def test_availability_of_a_card_comes_from_its_class(classes, stock):
    html = page_body("sgammo", "category").decode().replace("post-4711 instock", f"post-4711 {classes}")
    overview = SgammoAdapter().read_overview(respond(f"{SITE}/product-category/rifle/", html.encode()))
    assert overview.cards[0].availability == stock  # type: ignore[union-attr]
