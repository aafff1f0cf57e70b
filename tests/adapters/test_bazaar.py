"""Pages of the sample marketplace in every category and markup, compared with its own data."""

from __future__ import annotations

import urllib.request

import pytest
from scrapy.http import HtmlResponse

from pricewatch import adapters
from pricewatch.bazaar.client import Bazaar
from pricewatch.items import Extracted
from pricewatch.store.engine.seed_data import SAMPLE_CATEGORIES
from tests.adapters.site_fixtures import cases, check


@pytest.mark.parametrize("case", cases("bazaar"))
def test_saved_page_gives_the_expected_result(case: str) -> None:
    check("bazaar", case)


@pytest.mark.parametrize("category", SAMPLE_CATEGORIES)
def test_prices_and_currencies_of_every_category(bazaar: Bazaar, category: str) -> None:
    listings = [each for each in bazaar.truth(category) if each.state == "on_sale" and each.markup != "js"][
        :25
    ]
    assert listings
    for listing in listings:
        url = f"{bazaar.url}{listing.url}"
        with urllib.request.urlopen(url) as response:  # noqa: S310 - the sample marketplace
            read = adapters.get("bazaar").extract(HtmlResponse(url, body=response.read(), encoding="utf-8"))
        assert isinstance(read, Extracted), (url, read)
        assert (read.offer.price_cents, read.offer.currency) == (listing.price, listing.currency)
