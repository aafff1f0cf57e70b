"""Read a page as a crawl does: middlewares, adapters, validation; then its display for a person.

Each step is one reading with a deadline of its own: a crawl reads a page for its offer, and again for its
presence; a person looks at a page of the quarantine later.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Headers, Request, Response, TextResponse
from scrapy.utils._download_handlers import make_response
from scrapy.utils.test import get_crawler

from pricewatch import adapters, settings
from pricewatch.adapters.base import Adapter, Overview
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.adapters.offer_check import check_offer
from pricewatch.declared_shops.declaration import Declaration
from pricewatch.declared_shops.declared_adapter import DeclaredAdapter
from pricewatch.fetching.failures import FetchFailure
from pricewatch.items import Extracted, ExtractFailure, Ok, Quarantine
from pricewatch.middlewares.blocked_pages import BlockedPageMiddleware
from pricewatch.middlewares.compression import BoundedCompressionMiddleware
from pricewatch.middlewares.redirects import OnSiteMetaRefreshMiddleware
from pricewatch.money import Money
from pricewatch.parsing.pages.sanitized_html import sanitized_page
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.reading.page_reader import may_block
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.rules.price_options import page_marks, price_options
from pricewatch.rules.validation import validate_card
from pricewatch.runs.list_end_search import next_page_evidence
from pricewatch.store.engine.json_safe import json_safe
from tests.hostile.corpus.hostile_page import PRODUCT, HostilePage, document

SITES = ("willhaben", "apartments", "mercari", "sgammo", "bazaar")
SELECTORS = {"price": ".product-price", "title": "h1"}
PRICE_PLACE = "main > div.product-price"
SHOP = {
    "domain": "shop.example",
    "currency": "EUR",
    "pages": "?page={page}",
    "overview": {
        "card": "li, article, tr, .card",
        "container": "body",
        "url": "a::attr(href)",
        "title": "h2, h3, a",
        "price": ".price, b",
    },
    "product": {
        "title": "h1",
        "price": ".product-price, .price",
        "price_again": "meta[property='product:price:amount']::attr(content)",
        "availability": ".stock, [itemprop=availability]::attr(href)",
        "buy": "button",
        "tiers": "table",
    },
}


DECLARED = "declared shop"
# CPU seconds after which a reading is ended; parsers in C go on, but they are linear.
HARD_DEADLINE = 10.0


class ExampleShop(DeclaredAdapter):
    def __init__(self) -> None:
        super().__init__("shop", Declaration.model_validate(SHOP))


@dataclass(slots=True)
class PageResult:
    """What came of a page: accepted prices with their reader, or why there is none; CPU seconds by step."""

    outcome: str = ""
    accepted: list[tuple[str, str]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    size: int = 0
    # A crawl reads it in a process that it ends at the deadline; and the steps that are always read so.
    needs_process: bool = False
    process_steps: set[str] = field(default_factory=set)
    # The length of what would be stored: the offer and its evidence, or the details of a quarantined page.
    stored: int = 0
    # The reading that was ended because it took longer than any page may.
    endless_step: str = ""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, HARD_DEADLINE)
        try:
            yield
        except TimeoutError:
            self.endless_step = name
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.seconds[name] = time.process_time() - began


@cache
def _crawler() -> Crawler:
    names = [name for name in dir(settings) if name.isupper()]
    return get_crawler(
        settings_dict={name: getattr(settings, name) for name in names} | {"LOG_ENABLED": False}
    )


@cache
def _middlewares() -> list[Callable[[Request, Response], Any]]:
    """The middlewares that look at the body of a response, in the order in which it passes them."""
    kinds = (BoundedCompressionMiddleware, OnSiteMetaRefreshMiddleware, BlockedPageMiddleware)
    return [kind.from_crawler(_crawler()).process_response for kind in kinds]


@cache
def reader(name: str) -> Adapter:
    if name == "custom selectors":
        return CustomSelectorAdapter(adapters.get("generic").with_price_place(PRICE_PLACE), SELECTORS)
    if name == DECLARED:
        return ExampleShop()
    return adapters.get(name)


def prepare() -> None:
    """Load everything that is loaded once, so that it does not count for the first page."""
    for body in (document(PRODUCT), document(PRODUCT.replace("€19.99", "€19.99 or €24.99"))):
        read_page(HostilePage("", str, adapters=SITES), body.encode())


def read_page(page: HostilePage, body: bytes) -> PageResult:
    result = PageResult(size=len(body))
    request = Request(page.url)
    with result.step("middlewares"):
        response = received(page, body, request, result)
    if response is None:
        return result
    result.size = len(response.body)
    limits = ReadLimits()
    # Other pages that a process reads must keep the limits all the same.
    is_flood = page.is_flood and may_block(response.body, limits)
    result.needs_process = result.size > limits.process_bytes or is_flood
    details: dict[str, Any] = {}
    for name in ("generic", "custom selectors", DECLARED, *page.adapters):
        outcome = _read(name, response, result, details)
        # The outcome of a page is that of the adapter of its site, or else of the generic one.
        if name == "generic" or name in page.adapters:
            result.outcome = outcome
    result.stored = max(result.stored, len(str(json_safe(details))))
    result.process_steps.add("display")
    with result.step("display"):
        sanitized_page(response.text, "/page.css", page_marks(price_options(details)))
    return result


def received(page: HostilePage, body: bytes, request: Request, result: PageResult) -> TextResponse | None:
    """The response as the spider receives it; None if a middleware refused it, or it is not text."""
    headers = Headers({name: value.encode("latin-1") for name, value in page.headers.items()})
    response: Any = make_response(page.url, page.status, headers, body)
    try:
        for process_response in _middlewares():
            response = process_response(request, response)
            if asyncio.iscoroutine(response):
                response = asyncio.run(response)
            if isinstance(response, Request):
                break
    except (FetchFailure, IgnoreRequest, ResponseDataLossError) as failure:
        result.outcome = type(failure).__name__
        return None
    if isinstance(response, Request):
        result.outcome = "redirected"
        return None
    response.request = request
    if not isinstance(response, TextResponse):
        result.outcome = "not text"
        return None
    return response


def _read(name: str, response: TextResponse, result: PageResult, details: dict[str, Any]) -> str:
    """Read a page with an adapter for its offer, its presence and its cards."""
    adapter = reader(name)
    if adapter.uses_selectors:
        result.process_steps |= {f"{name}: {call}" for call in ("extract", "presence", "overview")}
    with result.step(f"{name}: extract"):
        found = adapter.extract(response)
        outcome = _offer_outcome(name, adapter, found, response, result)
    if isinstance(found, Quarantine) and name == "generic":
        details.update(found.details)
    if name != "custom selectors":
        with result.step(f"{name}: presence"):
            adapter.presence(response)
    if name == "generic":
        with result.step("generic: explain"):
            adapter.explain(response)
    if adapter.has_overview():
        with result.step(f"{name}: overview"):
            cards = adapter.read_overview(response)
            if isinstance(cards, Overview):
                _accept_cards(name, cards, response, result)
    # As a spider does: the tree of a page is not kept.
    response._cached_selector = None
    return outcome


def _offer_outcome(
    name: str, adapter: Adapter, found: Any, response: TextResponse, result: PageResult
) -> str:
    if not isinstance(found, Extracted):
        assert isinstance(found, (ExtractFailure, Quarantine)), found
        return str(found.reason)
    offer = found.offer
    try:
        offer.url = canonical_url(offer.url or response.url)
    except InvalidUrl:
        return "INVALID_URL"
    verdict = check_offer(offer, adapter)
    if not isinstance(verdict, Ok):
        return str(verdict.reason)
    result.accepted.append((name, str(verdict.offer.price)))
    result.stored = max(result.stored, len(str(asdict(verdict.offer))), len(str(found.evidence)))
    return "accepted"


def _accept_cards(name: str, overview: Overview, response: TextResponse, result: PageResult) -> None:
    next_page_evidence(response, overview, f"{response.url}?page=2", ReadLimits())
    prices: dict[str, None] = {}
    for card in overview.cards:
        valid = validate_card(card)
        price = Money.of(getattr(valid, "price_cents", None), getattr(valid, "currency", None))
        if price is not None:
            prices[str(price)] = None
    if name != DECLARED:
        # The selectors of the declared shop match other products, too, whose prices are not those of the page.
        result.accepted.extend((f"{name} cards", price) for price in prices)
