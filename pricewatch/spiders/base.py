"""What the four spiders share: arguments, the run, and how a product page becomes an offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response, TextResponse
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import adapters, clock
from pricewatch.adapters.base import Adapter
from pricewatch.items import (
    Availability,
    Card,
    Extracted,
    ExtractFailure,
    FailureReason,
    Offer,
    OverviewPage,
    PageOutcome,
    ProductPage,
    Quarantine,
)
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.spiders.arguments import Arguments, parse_arguments
from pricewatch.spiders.run import Run


class PricewatchSpider(scrapy.Spider):
    """Base of all four: one run, from its arguments to its row in `runs`."""

    arguments_type: ClassVar[type[Arguments]] = Arguments
    # Whether cards are kept aside until the whole market has been read.
    collects: ClassVar[bool] = False
    run: Run
    adapter: Adapter
    source_id: str

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PricewatchSpider:
        spider = super().from_crawler(crawler, *args)
        spider.prepare(parse_arguments(cls.arguments_type, cls.name, kwargs))
        return spider

    @classmethod
    def check(cls, given: dict[str, Any]) -> None:
        """Say what is wrong with these arguments before anything starts."""
        cls.load(parse_arguments(cls.arguments_type, cls.name, given))

    @classmethod
    def load(cls, arguments: Any) -> Any:
        """Read from the database what the arguments name; raises `UserError` where there is no such thing."""
        raise NotImplementedError

    def prepare(self, arguments: Any) -> None:
        """Take the arguments and create `self.run`; nothing has been requested yet."""
        raise NotImplementedError

    def describe(self) -> str:
        """What this run is, for a person who watches it."""
        return self.name

    def work_done(self) -> tuple[int, int | None]:
        """How much is done, and of how much if that is known."""
        return self.run.pages + self.run.counters["urls_attempted"], None

    def complete_card(self, card: Card) -> None:
        """Add what every card of a site has in common: its canonical URL and its identity."""
        card.fetch_url = card.url
        card.url = canonical_url(card.url)
        card.identity_key = identity_key(card.product_id, card.sku, card.url)

    def complete_offer(self, offer: Offer, response: Response) -> Offer:
        offer.source = self.source_id
        offer.fetch_url = response.url
        offer.url = canonical_url(offer.url or response.url)
        offer.observed_at = clock.now()
        offer.adapter_version = self.adapter.version
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
        return offer

    def product_request(self, url: str, **cb_kwargs: Any) -> Request:
        self.run.count("urls_attempted")
        return Request(
            url,
            callback=self.parse_product,
            errback=self.product_failed,
            cb_kwargs=cb_kwargs,
            dont_filter=True,
        )

    def parse_product(self, response: Response, **_: Any) -> Iterator[ProductPage]:
        """Read one product page; every way it can end is counted."""
        if not isinstance(response, TextResponse):
            self.page_failed(response, FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
            return
        result = self.adapter.extract(response)
        if isinstance(result, Extracted):
            try:
                offer = self.complete_offer(result.offer, response)
            except InvalidUrl as error:
                self.page_failed(response, FailureReason.PAGE_STRUCTURE_CHANGED, str(error))
                return
            self.run.count("urls_succeeded")
            self.run.count("offers_extracted")
            yield ProductPage(offer=offer, page=response.body, evidence=result.evidence)
        elif isinstance(result, ExtractFailure):
            self.page_failed(response, result.reason, result.details)
        else:
            yield from self.hold(response, result)

    def hold(self, response: Response, held: Quarantine) -> Iterator[ProductPage]:
        """An offer that the adapter itself is not sure of: kept for review, never stored as a price."""
        offer = held.offer or Offer(
            url=response.url, title="", price_cents=0, currency="", availability=Availability.UNKNOWN
        )
        self.run.count("urls_succeeded")
        self.run.count("offers_extracted")
        yield ProductPage(offer=self.complete_offer(offer, response), page=response.body, held=held)

    def page_stored(self, connection: Connection, page: OverviewPage) -> None:
        """Called inside the transaction that stores a page of cards."""

    def page_failed(self, response: Response, reason: FailureReason, details: str = "") -> None:
        """A page without an offer. Out of stock with no price is expected, and no failure."""
        self.run.note(f"failure/{reason}")
        if reason is FailureReason.OOS_NO_PRICE:
            self.run.count("urls_succeeded")
            self.run.count("oos_no_price_count")
            return
        self.run.count("urls_failed")
        self.run.error("No offer on the page", url=response.url, reason=reason, details=details)

    def product_failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome, _, error = outcome_of(failure)
        self.run.count("urls_failed")
        self.run.note(f"failure/{outcome}")
        self.run.error("A product page could not be fetched", url=request.url, reason=error)


def outcome_of(failure: Failure) -> tuple[PageOutcome, int | None, str]:
    """How a request ended that gave no page: the outcome, the status if there was one, and the error."""
    error = failure.value
    response = getattr(error, "response", None)
    if response is not None:
        return PageOutcome.HTTP_ERROR, response.status, f"status {response.status}"
    if isinstance(error, IgnoreRequest):
        return PageOutcome.ROBOTS, None, str(error) or "forbidden by robots.txt"
    return PageOutcome.NETWORK_ERROR, None, f"{type(error).__name__}: {error}"


def adapter_for(adapter_id: str) -> Adapter:
    return adapters.get(adapter_id)
