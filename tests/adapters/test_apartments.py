"""apartments.com, on handwritten pages with the structure of the site."""

from __future__ import annotations

import json

import pytest

from pricewatch.adapters.apartments import ApartmentsAdapter
from pricewatch.adapters.base import MarketQuery, Overview, Presence
from pricewatch.items import Extracted
from tests.adapters.site_fixtures import cases, check, expected, page_body, respond

SITE = "https://www.apartments.com"


@pytest.mark.parametrize("case", cases("apartments"))
def test_saved_page_gives_the_expected_result(case):
    check("apartments", case)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("$1,850", 185000, None),
        ("$1,850 - $2,400", 185000, 240000),
        ("$1,850 – 2,400", 185000, 240000),
        ("$1,850+", 185000, None),
        ("$1,850+ /mo", 185000, None),
        ("$950.50/month", 95050, None),
        ("Call for Rent", None, None),
        ("$2,400 - $1,850", None, None),
        ("$1,850 - $2,400 - $3,000", None, None),
        ("$1?850", None, None),
        ("1,850", None, None),
        ("€1,850", None, None),
        ("¥1,850", None, None),
        ("$1,850 - ¥2,400", None, None),
        ("$0", None, None),
    ],
)
def test_rent_is_read_as_price_or_range(text, low, high):
    url = expected("apartments", "range")["url"]
    html = page_body("apartments", "range").decode().replace("$1,850 - $2,400", text)
    result = ApartmentsAdapter().extract(respond(url, html.encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents, offer.price_max_cents) == (low, high) if offer else low is None


def test_unavailable_placard_is_out_of_stock():
    url, body = expected("apartments", "boston")["url"], page_body("apartments", "boston")
    overview = ApartmentsAdapter().read_overview(respond(url, body.replace(b"Call for Rent", b"Unavailable")))
    assert isinstance(overview, Overview)
    assert [card.availability for card in overview.cards] == [None, None, "OUT_OF_STOCK", None]


def json_ld(page: str, data: object) -> bytes:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script></head>'
    return page_body("apartments", page).decode().replace("</head>", script).encode()


def test_json_ld_provides_missing_titles():
    url = expected("apartments", "boston")["url"]
    place = {"@type": "ApartmentComplex", "name": "The Madison", "url": "/the-madison-boston-ma/q1w2e3r/"}
    body = json_ld("boston", {"@type": "SearchResultsPage", "about": [place]})
    bare = body.replace(b"property-title", b"headline").replace(b"property-address", b"where")
    overview = ApartmentsAdapter().read_overview(respond(url, bare.replace(b"data-streetaddress", b"data-x")))
    assert isinstance(overview, Overview)
    assert [card.title for card in overview.cards] == ["The Madison"]
    assert overview.unreadable == {"CARD_WITHOUT_LINK_OR_TITLE": 3}
    # The title of the placard takes precedence; a placard does not state availability.
    displayed = ApartmentsAdapter().read_overview(respond(url, body.replace(b"The Madison<", b"Madison<")))
    assert isinstance(displayed, Overview)
    assert displayed.cards[0].title == "Madison"
    assert {card.availability for card in displayed.cards} == {None}


@pytest.mark.parametrize(
    ("offer", "outcome"),
    [
        ({"@type": "AggregateOffer", "lowPrice": 1850, "highPrice": 2400, "priceCurrency": "USD"}, 185000),
        ({"@type": "Offer", "price": "1850", "priceCurrency": "USD"}, 185000),
        ({"@type": "Offer", "price": "1200", "priceCurrency": "USD"}, "AMBIGUOUS_PRICE"),
    ],
)
def test_json_ld_must_agree_with_the_rent(offer, outcome):
    url = expected("apartments", "range")["url"]
    body = json_ld("range", {"@type": "Apartment", "name": "The Madison", "url": url, "offers": offer})
    result = ApartmentsAdapter().extract(respond(url, body))
    assert (result.offer.price_cents if isinstance(result, Extracted) else result.reason) == outcome


@pytest.mark.parametrize("status", [403, 429])
def test_denied_page_is_blocked_and_not_gone(status):
    response = respond(f"{SITE}/x/abc/", page_body("apartments", "range"), status)
    assert str(ApartmentsAdapter().extract(response).reason) == "BLOCKED_PAGE"  # type: ignore[union-attr]
    assert ApartmentsAdapter().presence(response).presence is Presence.UNKNOWN


@pytest.mark.parametrize(
    ("city", "state", "path"),
    [
        ("New York City", "NY", "/new-york-city-ny/"),
        ("Washington", "DC", "/washington-dc/"),
        ("Bryn Mawr", "PA", "/bryn-mawr-pa/"),
    ],
)
def test_urls_of_searches_and_pages_are_built(city, state, path):
    adapter = ApartmentsAdapter()
    (page,) = adapter.start_pages({"city": city, "state": state})
    assert page == path
    assert adapter.overview_url(MarketQuery(SITE, page, 40), 1) == SITE + path
    assert adapter.overview_url(MarketQuery(SITE, page, 40), 3) == f"{SITE}{path}3/"
    assert adapter.start_pages({"city": city}) == []
