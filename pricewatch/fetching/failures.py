"""Why a request brought no page, other than by an error of the network or a status of the site."""

from __future__ import annotations

from typing import ClassVar

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from pricewatch.vocabulary import PageOutcome

# Fetches that were our own doing: they say nothing about the site or its adapter.
NOT_ASKED = frozenset(
    {"robots", "no_turn", "no_proxy", "no_browser", "crawl_ending", "refused_url", "refused_address"}
)


class FetchFailure(IgnoreRequest):
    """Base of all: `reason` is the word for stats and rows, the message is for people."""

    reason: ClassVar[str]
    outcome: ClassVar[PageOutcome] = PageOutcome.NETWORK_ERROR
    # Whether it was the site that sent us there.
    by_redirect = False

    def __init__(self, message: str, response: Response | None = None):
        super().__init__(message)
        # What came back, where something did.
        self.response = response


class RobotsForbidden(FetchFailure):
    """robots.txt forbids the URL, or could not be read, which forbids everything."""

    reason = "robots"
    outcome = PageOutcome.ROBOTS


class RefusedUrl(FetchFailure):
    """Not http or https, no host, or with a login in it."""

    reason = "refused_url"


class RefusedAddress(FetchFailure):
    """The host leads to a private, loopback, link-local or otherwise special address."""

    reason = "refused_address"


class OffsiteRedirect(FetchFailure):
    """The site sent us to another registrable domain: whatever is there, it is not this page."""

    reason = "offsite_redirect"
    outcome = PageOutcome.HTTP_ERROR


class TooManyRedirects(FetchFailure):
    reason = "too_many_redirects"
    outcome = PageOutcome.HTTP_ERROR


class TooLarge(FetchFailure):
    """The body is larger than DOWNLOAD_MAXSIZE, as sent or unpacked."""

    reason = "too_large"
    outcome = PageOutcome.UNREADABLE


class BlockedPage(FetchFailure):
    """A captcha, a bot wall, a queue or a refusal stands in for the page, whatever its status."""

    reason = "blocked_page"
    outcome = PageOutcome.BLOCKED


class NoProxy(FetchFailure):
    """The source is to be fetched through proxies and none can be used now."""

    reason = "no_proxy"


class RateLimitWaitExceeded(FetchFailure):
    """The rate limit, a Retry-After or an unavailable limiter backend would make it wait too long."""

    reason = "no_turn"


class NoBrowser(FetchFailure):
    """The page needs a browser and this machine has none that works."""

    reason = "no_browser"


class CrawlEnding(FetchFailure):
    """The crawl ended while the request waited."""

    reason = "crawl_ending"
