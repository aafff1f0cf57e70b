"""Which page counts if it was requested without the browser and with it; the crawls are in test_rendering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request

from pricewatch import adapters
from pricewatch.items import ExtractFailure, Offer, ProductPage, Quarantine
from pricewatch.queued_work import SourceHints
from pricewatch.runs.page_rendering import PageRendering
from pricewatch.runs.requested_page import PageContext
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

URL = "https://shop.example/item/1"
SUBJECT = PageContext(adapters.get("generic"), "shop.example")
NO_PRICE = ExtractFailure(FailureReason.PRICE_NOT_FOUND, may_need_browser=True)


def page(final_url: str = URL, **meta: Any) -> HtmlResponse:
    return HtmlResponse(final_url, body=b"<html></html>", request=Request(URL, meta=meta))


def product(**fields: Any) -> ProductPage:
    offer = Offer(url=URL, title="Lamp", price_cents=1, currency="EUR", availability=Availability.IN_STOCK)
    return ProductPage(offer=offer, **fields)


def quarantined(**details: Any) -> ProductPage:
    return product(quarantine=Quarantine(QuarantineReason.SELECTOR_FAILURE, details))


@pytest.mark.parametrize(
    ("response", "subject", "read", "expected"),
    [
        (page(), SUBJECT, NO_PRICE, True),
        (page(), SUBJECT, ExtractFailure(FailureReason.PRICE_NOT_FOUND), False),
        (page(), SUBJECT, product(), False),
        (page(), SUBJECT, quarantined(), False),
        (page(), SUBJECT, quarantined(may_need_browser=True), True),
        (page(playwright=True), SUBJECT, NO_PRICE, False),
        (page("https://shop.example/item/2"), SUBJECT, NO_PRICE, False),
        (page(), replace(SUBJECT, render="never"), NO_PRICE, False),
        (page(), replace(SUBJECT, hints=SourceHints("never")), NO_PRICE, False),
        (page(), replace(SUBJECT, render="auto", hints=SourceHints("never")), NO_PRICE, True),
    ],
)
def test_page_is_tried_in_the_browser(
    response: HtmlResponse, subject: PageContext, read: ProductPage | ExtractFailure, expected: bool
) -> None:
    rendering = PageRendering()
    again = rendering.try_browser(response, subject, read)
    assert (again is not None) is expected
    if again is not None:
        assert rendering.meta(again)["playwright"]
        # Only once.
        assert rendering.try_browser(page(), again, NO_PRICE) is None
    rendering.set_browser_missing()
    assert rendering.try_browser(response, subject, read) is None


@pytest.mark.parametrize(
    ("read", "counts", "learns"),
    [
        (product(), True, True),
        (quarantined(), True, False),
        (ExtractFailure(FailureReason.OOS_NO_PRICE), True, False),
        (ExtractFailure(FailureReason.PRICE_NOT_FOUND, may_need_browser=True), False, False),
        (ExtractFailure(FailureReason.BLOCKED_PAGE), False, False),
    ],
)
def test_page_in_the_browser_counts_if_it_shows_more(
    read: ProductPage | ExtractFailure, counts: bool, learns: bool
) -> None:
    rendering, plain, rendered = PageRendering(), page(), page(playwright=True)
    again = rendering.try_browser(plain, SUBJECT, NO_PRICE)
    assert again is not None
    outcome = rendering.outcome(rendered, again, read)
    assert outcome == ((rendered, read) if counts else (plain, NO_PRICE))
    assert ("playwright" in rendering.meta(SUBJECT)) is learns
    assert "playwright" not in rendering.meta(replace(SUBJECT, source_id="other.example"))
    assert "playwright" not in rendering.meta(replace(SUBJECT, render="never"))
    assert isinstance(read, ExtractFailure) or read.needed_browser is learns
