"""The adapter of declared shops."""

from __future__ import annotations

import pytest

from pricewatch.adapters.base import MarketQuery, Overview, Presence
from pricewatch.items import Extracted, ExtractFailure, Quarantine
from pricewatch.rules.validation import validate_offer
from pricewatch.vocabulary import Availability
from tests.adapters.site_fixtures import respond
from tests.declared_shops.conftest import SHOP

SITE = "https://www.teashop.example"


def page(body: str) -> bytes:
    return f"<html><head><title>Tee</title></head><body>{body}</body></html>".encode()


def product(body: str) -> bytes:
    return page(f"<main>{body}</main>")


@pytest.mark.parametrize(
    ("pages", "start", "second"),
    [
        ("?p={page}", "/tee?sort=neu", f"{SITE}/tee?sort=neu&p=2"),
        ("page/{page}/", "/tee/", f"{SITE}/tee/page/2/"),
        ("page-{page}.html", "/tee/index.html", f"{SITE}/tee/page-2.html"),
        ("/alle/{page}", "/tee/", f"{SITE}/alle/2"),
        ("page/{page}/", "/tee", f"{SITE}/tee/page/2/"),
        ("page/{page}/", "/tee/?sort=neu", f"{SITE}/tee/page/2/?sort=neu"),
        ("page-{page}.html", "/tee/index.html?sort=neu", f"{SITE}/tee/page-2.html?sort=neu"),
        ("?start={offset}", "/tee", f"{SITE}/tee?start=30"),
        ("?p={index}", "/tee", f"{SITE}/tee?p=1"),
    ],
)
def test_page_urls_are_built_from_the_template(declare, pages, start, second):
    adapter = declare(SHOP.replace("?p={page}", pages))
    assert adapter.overview_url(MarketQuery(SITE, start, 30), 1) == SITE + start
    assert adapter.overview_url(MarketQuery(SITE, start, 30), 2) == second


def card(name: str, price: str, more: str = "", attributes: str = "") -> str:
    link = f'<a href="/{name.lower()}"><h2>{name}</h2></a>'
    return f'<li class="tea"{attributes}>{link}{more}<b class="preis">{price}</b></li>'


def test_cards_of_an_overview_page_are_read(declare):
    body = (
        card("Assam", "9,90 €", attributes=' data-artikel="art-1"'),
        card("Bancha", "ab 5 €", attributes=' data-artikel="art-2"'),
        card("Chai", "4 €", '<i class="weg">weg</i>'),
        card("Darjeeling", "$4"),
        '<li class="tea"><h2>No link</h2></li><a class="weiter" href="?p=2">weiter</a>',
    )
    overview = declare().read_overview(respond(f"{SITE}/tee", page("".join(body))))
    assert isinstance(overview, Overview)
    assert overview.has_next
    assert overview.unreadable == {"CARD_WITHOUT_LINK_OR_TITLE": 1}
    assert [(card.product_id, card.price_cents, card.availability) for card in overview.cards] == [
        ("1", 990, None),
        ("2", None, None),
        (None, 400, "SOLD"),
        (None, None, None),
    ]


def test_selectors_may_match_the_card_element(declare):
    own = SHOP.replace('"::attr(data-artikel)"', '":scope::attr(data-artikel)"').replace(
        '".weg"', '":scope.weg"'
    )
    inner = '<i data-artikel="art-9" class="weg"></i>'
    body = card("Assam", "9,90 €", inner, ' data-artikel="art-1"') + card("Chai", "4 €").replace(
        "tea", "tea weg"
    )
    overview = declare(own).read_overview(respond(f"{SITE}/tee", page(body)))
    assert isinstance(overview, Overview)
    assert [(card.product_id, card.availability) for card in overview.cards] == [("1", None), (None, "SOLD")]


@pytest.mark.parametrize(
    ("more", "body", "outcome"),
    [
        ('price_again = ".nochmal"', '<p class="nochmal">12,50 €</p>', 1250),
        ('price_again = ".nochmal"', '<p class="nochmal">12 €</p>', 1250),
        ('price_again = ".nochmal"', "", 1250),
        ('price_again = ".nochmal"', '<p class="nochmal">99 €</p>', "AMBIGUOUS_PRICE"),
        ('price_again = ".nochmal"', '<p class="nochmal">auf Anfrage</p>', "AMBIGUOUS_PRICE"),
        ('tiers = ".staffel"', '<p class="staffel">1: 12,50 € 5+: 11,00 €</p>', 1250),
        ('tiers = ".staffel"', '<p class="staffel">1: 14,00 € 5+: 11,00 €</p>', "AMBIGUOUS_PRICE"),
        ('tiers = ".staffel"', '<p class="staffel">Mengenrabatt auf Anfrage</p>', 1250),
    ],
)
def test_second_price_must_agree(declare, more, body, outcome):
    adapter = declare(SHOP.replace('availability = ".lager"', f'availability = ".lager"\n{more}'))
    body = f'<h1>Assam</h1><b class="preis">12,50 €</b><p class="lager">Auf Lager</p>{body}'
    result = adapter.extract(respond(f"{SITE}/a", product(body)))
    assert (result.offer.price_cents if isinstance(result, Extracted) else result.reason) == outcome


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        ("<s>15,00 €</s> 12,50 €", 1250),
        ("<del>15,00 €</del> <ins>12,50 €</ins>", 1250),
        ("<del>15,00 €</del> <ins>12,50 €</ins> 11,00 €", None),
        ("<s>15,00 €</s> 12,50 € 11,00 €", None),
        ("<s>15,00 €</s>", None),
    ],
)
def test_crossed_out_price_is_ignored(declare, price, cents):
    body = f'<h1>Assam</h1><b class="preis">{price}</b><p class="lager">Auf Lager</p>'
    result = declare().extract(respond(f"{SITE}/a", product(body)))
    assert (result.offer.price_cents if isinstance(result, Extracted) else None) == cents


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        ("12<sup>50</sup> €", 1250),
        ('12<i class="cents">50</i> €', 1250),
        ("1.212<small>50</small> €", 121250),
        ("12,50<sup>12</sup> €", None),
        ("12,50 €<sup>1</sup>", None),
        ("<i>12</i><i>50</i> €", None),
        ("12<sup>50</sup> € 11<sup>00</sup> €", None),
    ],
)
def test_cents_in_a_separate_element_are_read(declare, price, cents):
    body = f'<h1>Assam</h1><b class="preis">{price}</b><p class="lager">Auf Lager</p>'
    result = declare().extract(respond(f"{SITE}/a", product(body)))
    assert (result.offer.price_cents if isinstance(result, Extracted) else None) == cents


def test_first_place_with_a_text_counts_and_codes_are_read(declare):
    text = SHOP.replace(
        'title = "h1"', 'title = ["h1.name", "h1"]\nbrand = ".marke"\ngtin = ".ean"\nmpn = ".nr"'
    )
    body = (
        '<h1>Tee</h1><h1 class="name">Assam</h1><b class="preis">12,50 €</b><p class="lager">Auf Lager</p>'
        '<p class="marke">Acme</p><p class="ean">4006381333931</p><p class="nr">A-1</p>'
    )
    offer = declare(text).extract(respond(f"{SITE}/a", product(body))).offer
    assert (offer.title, offer.brand, offer.gtin, offer.mpn) == ("Assam", "Acme", "4006381333931", "A-1")
    unnamed = declare(text).extract(respond(f"{SITE}/a", product(body.replace(' class="name"', "", 1))))
    assert str(unnamed.reason) in ("TITLE_NOT_FOUND", "PAGE_STRUCTURE_CHANGED")


def test_end_of_the_list_is_detected(declare):
    adapter = declare()
    assert isinstance(adapter.read_overview(respond(SITE, page("<p>Nichts</p>"))), ExtractFailure)
    boxed = declare(SHOP.replace('next = "a.weiter"', 'container = "ul.tees"'))
    empty = boxed.read_overview(respond(SITE, page('<ul class="tees"></ul>')))
    assert isinstance(empty, Overview)
    assert (empty.cards, empty.has_next) == ([], False)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ('<b class="preis">12,50 €</b><p class="lager">Auf Lager</p>', (1250, Availability.IN_STOCK)),
        ('<b class="preis">12,50 €</b><button class="kaufen">Los</button>', (1250, Availability.IN_STOCK)),
        ('<b class="preis">12,50 €</b><p class="lager">Trifft bald ein</p>', (1250, Availability.BACKORDER)),
        ('<b class="preis">12,50 €</b><p class="lager">Ausverkauft</p>', (1250, Availability.OUT_OF_STOCK)),
        ('<b class="preis">12,50 €</b>', "UNKNOWN_AVAILABILITY"),
        ('<b class="preis">0,00 €</b><p class="lager">Auf Lager</p>', "ZERO_PRICE_EXTRACTED"),
        ('<p class="lager">Ausverkauft</p>', "OOS_NO_PRICE"),
        ('<b class="preis">Preis auf Anfrage</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<b class="preis">VB</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<b class="preis">zu verschenken</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<b class="preis">5 € – 9 €</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<b class="preis">5 €</b><b class="preis">9 €</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<b class="preis">$ 5</b><p class="lager">Auf Lager</p>', "PRICE_NOT_FOUND"),
        ('<p class="lager">Auf Lager</p>', "SELECTOR_FAILURE"),
        (
            '<b class="preis">126,24 € exkl. MwSt.: 105,20 €</b><p class="lager">Auf Lager</p>',
            (12624, "IN_STOCK"),
        ),
        ('<p class="hinweis">Leider nicht mehr im Sortiment.</p>', "PAGE_STRUCTURE_CHANGED"),
    ],
)
def test_product_page_is_read(declare, body, outcome):
    result = declare().extract(respond(f"{SITE}/a", product(f"<h1>Assam</h1>{body}")))
    if isinstance(result, Extracted):
        verdict = validate_offer(result.offer)
        reason = getattr(verdict, "reason", None)
        assert (reason or (result.offer.price_cents, result.offer.availability)) == outcome
    else:
        assert result.reason == outcome
        assert result.details


def test_unmatched_price_selector_is_reported(declare):
    result = declare().extract(respond(f"{SITE}/a", product('<h1>Assam</h1><p class="lager">Auf Lager</p>')))
    assert isinstance(result, Quarantine)
    assert result.details["why"] == "price: nothing at .preis"
    # A price at another place is ignored.
    moved = '<h1>Assam</h1><b class="neu">5 €</b><p class="lager">Auf Lager</p>'
    assert declare().extract(respond(f"{SITE}/a", product(moved))).reason == "SELECTOR_FAILURE"


def test_generic_reader_uses_the_currency_of_the_file(declare):
    adapter = declare(SHOP[: SHOP.index("[product]")].replace("EUR", "JPY"))
    body = '<h1>Assam</h1><b class="price">{}</b><button>Add to cart</button>'
    result = adapter.extract(respond(f"{SITE}/a", product(body.format("¥3,980"))))
    assert isinstance(result, Extracted)
    assert (result.offer.price_cents, result.offer.currency) == (3980, "JPY")
    assert adapter.extract(respond(f"{SITE}/a", product(body.format("€39")))).reason == "AMBIGUOUS_PRICE"


def test_presence_is_read_from_the_page(declare):
    adapter = declare()
    gone = '<h1>Assam</h1><p class="hinweis">Leider nicht mehr im Sortiment.</p>'
    pages = {
        '<h1>Assam</h1><b class="preis">5 €</b><p class="lager">Auf Lager</p>': Presence.ALIVE,
        gone: Presence.GONE,
        # With an unknown availability, only a displayed price shows that the product exists.
        '<h1>Assam</h1><b class="preis">5 €</b><p class="lager">Auf dem Schiff</p>': Presence.ALIVE,
        '<h1>Assam</h1><p class="lager">Auf dem Schiff</p>': Presence.UNKNOWN,
        "<p>Wartung</p>": Presence.UNKNOWN,
    }
    for body, presence in pages.items():
        assert adapter.presence(respond(f"{SITE}/a", product(body))).presence is presence


def test_generic_reader_reads_products_without_a_product_part(declare):
    adapter = declare(SHOP.partition("[product]")[0])
    body = (
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",'
        ' "name": "Assam", "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR",'
        ' "availability": "https://schema.org/InStock"}}</script><h1>Assam</h1><p>12,50 €</p>'
    )
    result = adapter.extract(respond(f"{SITE}/a", product(body)))
    assert isinstance(result, Extracted)
    assert result.offer.price_cents == 1250
