"""The product page that a request is for, and what its response or failure says about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from pricewatch.adapters.base import Adapter
from pricewatch.fetching.failures import FetchFailure
from pricewatch.parsing.url import is_same_product_url
from pricewatch.queued_work import EarlierChecks, LeasedTarget
from pricewatch.vocabulary import PageOutcome


@dataclass(frozen=True, slots=True)
class PageContext:
    """The adapter that reads a requested page, and the source, listing and target it belongs to."""

    adapter: Adapter
    source_id: str
    listing_id: int | None = None
    target: LeasedTarget | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)


def requested_url(response: Response) -> str:
    """Return the URL that was requested, before any redirect."""
    redirected: list[str] = response.meta.get("redirect_urls") or [response.url]
    return redirected[0]


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
