"""The sample marketplace's pages, in every category and markup, against what it knows to be true."""

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
def test_saved_page(case: str) -> None:
    check("bazaar", case)


@pytest.mark.parametrize("category", SAMPLE_CATEGORIES)
def test_every_category_is_read_with_its_own_currency(bazaar: Bazaar, category: str) -> None:
    listings = [each for each in bazaar.truth(category) if each.state == "on_sale" and each.markup != "js"][
        :25
    ]
    assert listings
    for listing in listings:
        url = f"{bazaar.url}{listing.url}"
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own
            read = adapters.get("bazaar").extract(HtmlResponse(url, body=answer.read(), encoding="utf-8"))
        assert isinstance(read, Extracted), (url, read)
        assert (read.offer.price_cents, read.offer.currency) == (listing.price, listing.currency)
