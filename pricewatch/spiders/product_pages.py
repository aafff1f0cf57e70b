"""The base of the spiders that read product pages: from the request to the item for the pipelines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Request, Response, TextResponse
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import Presence, PresenceEvidence
from pricewatch.fetching.failures import NOT_REQUESTED, CrawlEnding, NoBrowser
from pricewatch.items import (
    Extracted,
    ExtractFailure,
    ListingCheck,
    Offer,
    ProductPage,
    Quarantine,
    UnreadPage,
)
from pricewatch.parsing.url import InvalidUrl
from pricewatch.queued_work import EarlierChecks
from pricewatch.reading.page_calls import EXTRACT
from pricewatch.rules.metric_names import bucket
from pricewatch.rules.price_place import PAGES_TO_ESTABLISH, is_missing
from pricewatch.rules.verification_outcome import NOT_FOUND
from pricewatch.runs.page_rendering import PageRendering
from pricewatch.runs.requested_page import (
    PageContext,
    complete_offer,
    leads_elsewhere,
    outcome_of,
    reason_of,
    requested_url,
    without_redirects,
)
from pricewatch.spiders.base import PricewatchSpider
from pricewatch.vocabulary import Availability, FailureReason, PageOutcome, QuarantineReason

# A page was received but could not be read.
UNREADABLE = frozenset(
    {
        FailureReason.SELECTOR_NOT_FOUND,
        FailureReason.PRICE_NOT_FOUND,
        FailureReason.TITLE_NOT_FOUND,
        FailureReason.PAGE_STRUCTURE_CHANGED,
    }
)


class ProductPageSpider(PricewatchSpider):
    """Request and read product pages; subclasses decide which."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.page_rendering = PageRendering()

    def product_request(
        self, url: str, listing_id: int | None = None, earlier: EarlierChecks | None = None
    ) -> Request:
        subject = PageContext(self.adapter, self.source_id, listing_id, earlier=earlier or EarlierChecks())
        return self.request_page(url, subject.with_hints(self.hints))

    def request_page(self, url: str, subject: PageContext) -> Request:
        self.run.count("urls_attempted")
        return self._page_request(url, subject)

    def _page_request(self, url: str, subject: PageContext) -> Request:
        return Request(
            url,
            callback=self.parse_product,
            errback=self.product_failed,
            cb_kwargs={"subject": subject},
            meta={"source_id": subject.source_id, **self.page_rendering.meta(subject)},
            dont_filter=True,
            # The first page is kept until the second one arrives.
            priority=0 if subject.plain is None else 1,
        )

    async def parse_product(
        self, response: Response, subject: PageContext
    ) -> AsyncIterator[ProductPage | UnreadPage | Request]:
        """Read one product page, or request it again with the browser if a script may add its price."""
        read = await self.read_product(response, subject)
        again = self.page_rendering.try_browser(response, subject, read)
        if again is not None:
            self.run.note("browser/tried")
            yield self._page_request(requested_url(response), again)
            return
        response, read = self.page_rendering.outcome(response, subject, read)
        for item in await self.product_items(response, subject, read):
            yield item

    async def product_items(
        self, response: Response, subject: PageContext, read: ProductPage | ExtractFailure
    ) -> list[ProductPage | UnreadPage]:
        """Count the outcome of a page, and return it as an item."""
        result = await self.product_read(response, subject, read)
        if isinstance(result, ExtractFailure):
            return [await self.no_offer(response, subject, result)]
        self._count_succeeded(subject)
        if result.needed_browser:
            self.run.note("browser/needed")
        if result.quarantine is None or result.quarantine.offer is not None:
            self.run.count("offers_extracted")
            self.run.count_metric("scrape_offers_extracted_total", subject.adapter.id, subject.source_id)
        return [result]

    async def read_product(self, response: Response, subject: PageContext) -> ProductPage | ExtractFailure:
        """Read a product page into an item for the pipelines, or return why it has no offer."""
        if not isinstance(response, TextResponse):
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
        if leads_elsewhere(response):
            if not self.may_follow(response, subject):
                # A category, a login page or another product: a price on it is not the listing's.
                details = f"{requested_url(response)} led to another page"
                return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
            response = without_redirects(response)
        started = time.perf_counter()
        result = await self.read_with_adapter(EXTRACT, subject.adapter, response)
        duration = 1000 * (time.perf_counter() - started)
        self.run.count_metric("scrape_extract_duration_ms", subject.adapter.id, "le", bucket(duration))
        self.run.count_metric("scrape_extract_duration_ms", subject.adapter.id, "sum", amount=duration)
        if isinstance(result, ExtractFailure):
            return result
        quarantine = result if isinstance(result, Quarantine) else None
        evidence = result.evidence if isinstance(result, Extracted) else []
        page = self.product_page(response, subject, result.offer, quarantine, evidence)
        if isinstance(page, ProductPage) and isinstance(result, Extracted):
            page.price_place = result.price_place
        return page

    def product_page(
        self,
        response: TextResponse,
        subject: PageContext,
        offer: Offer | None,
        quarantine: Quarantine | None,
        evidence: list[str],
    ) -> ProductPage | ExtractFailure:
        """Create the item for a page; a quarantined page may have no offer, so an empty one is created."""
        offer = offer or Offer(
            url=response.url, title="", price_cents=0, currency="", availability=Availability.UNKNOWN
        )
        try:
            complete_offer(offer, response, subject)
        except InvalidUrl as error:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, str(error))
        return ProductPage(
            offer=offer,
            page=response.body,
            encoding=response.encoding,
            evidence=evidence,
            adapter_id=subject.adapter.id,
            target=subject.target,
            listing_id=subject.listing_id,
            earlier=subject.earlier,
            quarantine=quarantine,
            given_price_place=subject.adapter.price_place,
            price_place_missing=_is_place_missing(subject, evidence or _evidence(quarantine)),
        )

    def may_follow(self, response: Response, subject: PageContext) -> bool:
        """Return whether to read a page although its URL redirects to another one."""
        return False

    async def product_read(
        self, response: Response, subject: PageContext, result: ProductPage | ExtractFailure
    ) -> ProductPage | ExtractFailure:
        """Process what was read from a page before it is counted; return it or a replacement."""
        return result

    async def no_offer(self, response: Response, subject: PageContext, failure: ExtractFailure) -> UnreadPage:
        """Count a page without an offer. Out of stock without a price, or gone, is not a failure."""
        reason = failure.reason
        self.run.note(f"failure/{reason}")
        evidence = PresenceEvidence(Presence.UNKNOWN, failure.details)
        if reason is not FailureReason.READ_TIMEOUT:
            evidence = await self.presence(response, subject.adapter)
        gone = evidence.presence in (Presence.GONE, Presence.SOLD)
        page = self.unread_page(response.url, subject, reason, answered=True, gone=gone)
        page.check = await self.check_from(page, subject, response, evidence)
        # A page that is not a product page has no price at any place.
        page.price_place_missing = _is_place_missing(subject, failure.evidence) or None
        if not page.is_failure:
            self._count_succeeded(subject)
            if reason is FailureReason.OOS_NO_PRICE:
                self.run.count("oos_no_price_count")
                self.run.count_metric("scrape_oos_no_price_total", subject.adapter.id, subject.source_id)
            return page
        self._count_failed(subject, reason)
        # Digits are removed, because pages may show the current time.
        content = response.body.translate(None, b"0123456789")
        page.fingerprint = hashlib.sha256(content).digest()[:8]
        page.saved_page = self._drifted(response, subject, failure)
        self.run.error("No offer on the page", url=response.url, reason=reason, details=failure.details)
        return page

    def unread_page(
        self, url: str, subject: PageContext, reason: str, *, answered: bool, gone: bool
    ) -> UnreadPage:
        return UnreadPage(
            url=url,
            source=subject.source_id,
            adapter_id=subject.adapter.id,
            adapter_version=subject.adapter.version,
            reason=reason,
            observed_at=clock.now(),
            answered=answered,
            requested=reason not in NOT_REQUESTED,
            gone=gone,
            listing_id=subject.listing_id,
            target=subject.target,
            earlier=subject.earlier,
        )

    async def check_from(
        self,
        page: UnreadPage,
        subject: PageContext,
        response: Response | None,
        evidence: PresenceEvidence | None = None,
    ) -> ListingCheck | None:
        """Return what a page without an offer says about its listing, for spiders that use it."""
        return None

    def _drifted(
        self, response: Response, subject: PageContext, failure: ExtractFailure
    ) -> ProductPage | None:
        """Quarantine a page that was readable before, so that it can be read again with a fixed adapter."""
        if failure.reason not in UNREADABLE or not subject.earlier.read or subject.listing_id is None:
            return None
        if not isinstance(response, TextResponse) or "redirect_urls" in response.meta:
            return None
        quarantine = Quarantine(
            QuarantineReason.DRIFT_DETECTED,
            {"why": f"the page was readable before: {failure.reason} {failure.details}".strip()},
        )
        page = self.product_page(response, subject, None, quarantine, failure.evidence)
        return None if isinstance(page, ExtractFailure) else page

    def _count_succeeded(self, subject: PageContext) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.count("urls_succeeded")
        self.run.count_metric("scrape_urls_attempted_total", *labels, "succeeded")
        self.run.count_metric("scrape_urls_succeeded_total", *labels)

    def _count_failed(self, subject: PageContext, reason: str) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.count("urls_failed")
        self.run.count_metric("scrape_urls_attempted_total", *labels, "failed")
        self.run.count_metric("scrape_urls_failed_total", *labels, reason)

    async def product_failed(self, failure: Failure) -> list[ProductPage | UnreadPage]:
        request: Request = failure.request  # type: ignore[attr-defined]
        subject: PageContext = request.cb_kwargs["subject"]
        if subject.plain is not None and not isinstance(failure.value, CrawlEnding):
            # The browser did not help: the page without it counts.
            if isinstance(failure.value, NoBrowser):
                self.page_rendering.set_browser_missing()
            return await self.product_items(subject.plain.response, subject, subject.plain.read)
        return [await self.not_fetched(failure, request, subject)]

    async def not_fetched(self, failure: Failure, request: Request, subject: PageContext) -> UnreadPage:
        outcome, status, error = outcome_of(failure)
        reason = reason_of(failure, outcome, status)
        self._count_failed(subject, reason)
        page = self.unread_page(request.url, subject, reason, answered=False, gone=status in NOT_FOUND)
        if not page.requested:
            self.run.count("urls_not_asked")
        self.run.note(f"failure/{outcome}" if status is None else f"failure/{outcome}_{status}")
        self.run.error("A product page could not be fetched", url=request.url, reason=error)
        # Only a plain HTTP error has a response that says something about the listing.
        response: Response | None = None
        if outcome is PageOutcome.HTTP_ERROR:
            response = getattr(failure.value, "response", None)
        page.check = await self.check_from(page, subject, response)
        return page


def _evidence(quarantine: Quarantine | None) -> list[str]:
    return quarantine.details.get("evidence", []) if quarantine else []


def _is_place_missing(subject: PageContext, evidence: list[str]) -> bool | None:
    """Return whether the price is not at its established place; None if the adapter was given none."""
    if not subject.adapter.price_place or subject.hints.price_place_seen < PAGES_TO_ESTABLISH:
        return None
    return is_missing(evidence)
