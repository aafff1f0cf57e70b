"""apartments.com, on pages written after what is known of its shape."""

from __future__ import annotations

import pytest

from pricewatch.adapters.apartments import ApartmentsAdapter
from pricewatch.adapters.base import MarketQuery, Presence

from .site_fixtures import cases, check, expected, page_body, respond

SITE = "https://www.apartments.com"


@pytest.mark.parametrize("case", cases("apartments"))
def test_saved_page(case):
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
        ("$0", None, None),
    ],
)
def test_rent(text, low, high):
    url = expected("apartments", "range")["url"]
    html = page_body("apartments", "range").decode().replace("$1,850 - $2,400", text)
    result = ApartmentsAdapter().extract(respond(url, html.encode()))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents, offer.price_max_cents) == (low, high) if offer else low is None


@pytest.mark.parametrize("status", [403, 429])
def test_denied_is_blocked_and_never_gone(status):
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
def test_urls(city, state, path):
    adapter = ApartmentsAdapter()
    (page,) = adapter.start_pages({"city": city, "state": state})
    assert page == path
    assert adapter.overview_url(MarketQuery(SITE, page, 40), 1) == SITE + path
    assert adapter.overview_url(MarketQuery(SITE, page, 40), 3) == f"{SITE}{path}3/"
    assert adapter.start_pages({"city": city}) == []
