"""Reasons why a request returned no page, other than network errors and HTTP statuses."""

from __future__ import annotations

from typing import ClassVar

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from pricewatch.vocabulary import PageOutcome

# Reasons for which pricewatch sent no request: they say nothing about the site or its adapter.
NOT_REQUESTED = frozenset(
    {
        "robots",
        "no_turn",
        "no_proxy",
        "no_browser",
        "crawl_ending",
        "refused_url",
        "refused_address",
        "unresolved_name",
    }
)


class FetchFailure(IgnoreRequest):
    """Base class: `reason` is the value in stats and rows, the message is for people."""

    reason: ClassVar[str]
    outcome: ClassVar[PageOutcome] = PageOutcome.NETWORK_ERROR
    # Whether a redirect of the site led to the failure.
    by_redirect = False

    def __init__(self, message: str, response: Response | None = None):
        super().__init__(message)
        # The response, if there was one.
        self.response = response


class RobotsForbidden(FetchFailure):
    """robots.txt forbids the URL, or could not be read, which forbids everything."""

    reason = "robots"
    outcome = PageOutcome.ROBOTS


class RefusedUrl(FetchFailure):
    """The URL is not http or https, has no host, or contains credentials."""

    reason = "refused_url"


class RefusedAddress(FetchFailure):
    """The host resolves to a private, loopback, link-local or otherwise special address."""

    reason = "refused_address"


class UnresolvedName(FetchFailure):
    """The request needs a proxy, and this machine cannot check the addresses of the host."""

    reason = "unresolved_name"


class OffsiteRedirect(FetchFailure):
    """The site redirected to another registrable domain."""

    reason = "offsite_redirect"
    outcome = PageOutcome.HTTP_ERROR


class TooManyRedirects(FetchFailure):
    reason = "too_many_redirects"
    outcome = PageOutcome.HTTP_ERROR


class TooLarge(FetchFailure):
    """The body is larger than DOWNLOAD_MAXSIZE, as sent or decompressed."""

    reason = "too_large"
    outcome = PageOutcome.UNREADABLE


class BlockedPage(FetchFailure):
    """The response is a captcha, a bot check, a waiting room or a refusal, whatever its status."""

    reason = "blocked_page"
    outcome = PageOutcome.BLOCKED


class NoProxy(FetchFailure):
    """The source requires proxies, and none can be used now."""

    reason = "no_proxy"


class RateLimitWaitExceeded(FetchFailure):
    """The request would wait too long for the rate limit, a Retry-After or the limiter backend."""

    reason = "no_turn"


class NoBrowser(FetchFailure):
    """The page needs a browser, and this machine has none that works."""

    reason = "no_browser"


class CrawlEnding(FetchFailure):
    """The crawl ended while the request waited."""

    reason = "crawl_ending"
