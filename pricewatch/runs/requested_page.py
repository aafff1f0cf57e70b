"""The product page that a request is for, and what its response or failure says about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import Adapter
from pricewatch.fetching.failures import FetchFailure
from pricewatch.items import ExtractFailure, Offer, ProductPage
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import canonical_url, is_same_product_url
from pricewatch.queued_work import EarlierChecks, LeasedTarget, SourceHints
from pricewatch.vocabulary import PageOutcome


@dataclass(frozen=True, slots=True)
class PlainPage:
    """A page that was requested without the browser, and what was read from it."""

    response: Response
    read: ProductPage | ExtractFailure


@dataclass(frozen=True, slots=True)
class PageContext:
    """The adapter that reads a requested page, and the source, listing and target it belongs to."""

    adapter: Adapter
    source_id: str
    listing_id: int | None = None
    target: LeasedTarget | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)
    # What was chosen for the target, or for a page that is only checked; None: as the source.
    render: str | None = None
    hints: SourceHints = field(default_factory=SourceHints)
    # Set while the page is tried in the browser after a request without it.
    plain: PlainPage | None = None

    def with_hints(self, hints: SourceHints) -> PageContext:
        """Return the context with an adapter that knows where the price of the source stands."""
        adapter = self.adapter.with_price_place(hints.price_place) if hints.price_place else self.adapter
        return replace(self, adapter=adapter, hints=hints)


def requested_url(response: Response) -> str:
    """Return the URL that was requested, before any redirect."""
    if redirected := response.meta.get("redirect_urls"):
        return str(redirected[0])
    # In the browser, a script may have led to another page.
    return response.request.url if response.request else response.url


def leads_elsewhere(response: Response) -> bool:
    """Return whether redirects led to a URL that does not identify the same product."""
    requested = requested_url(response)
    return requested != response.url and not is_same_product_url(requested, response.url)


def without_redirects(response: TextResponse) -> TextResponse:
    """Return the response without its redirects, for adapters that refuse redirected pages."""
    if response.request is None:
        return response
    meta = {name: value for name, value in response.meta.items() if name != "redirect_urls"}
    return response.replace(request=response.request.replace(meta=meta))


def complete_offer(offer: Offer, response: Response, subject: PageContext) -> None:
    """Set the fields of an offer that are not on the page; raise `InvalidUrl` if its URL is not valid."""
    offer.source = subject.source_id
    offer.fetch_url = response.url
    offer.url = canonical_url(offer.url or response.url)
    offer.observed_at = clock.now()
    offer.adapter_version = subject.adapter.version
    offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)


def outcome_of(failure: Failure) -> tuple[PageOutcome, int | None, str]:
    """Return the outcome of a failed request, its HTTP status if there is one, and the error message."""
    error = failure.value
    response = getattr(error, "response", None)
    if isinstance(error, FetchFailure):
        return error.outcome, response.status if response else None, str(error)
    if response is not None:
        return PageOutcome.HTTP_ERROR, response.status, f"status {response.status}"
    return PageOutcome.NETWORK_ERROR, None, f"{type(error).__name__}: {error}"


def reason_of(failure: Failure, outcome: PageOutcome, status: int | None) -> str:
    """Return the reason code of a failed request: a `FetchFailure`'s own, else the outcome and status."""
    error = failure.value
    if isinstance(error, FetchFailure):
        return error.reason
    return str(outcome) if status is None else f"{outcome}_{status}"
