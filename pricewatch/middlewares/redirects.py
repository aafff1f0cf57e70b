"""Redirects within a site are followed; one that leaves it is a failure, not a page."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import (
    BaseRedirectMiddleware,
    MetaRefreshMiddleware,
    RedirectMiddleware,
)
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import FetchFailure, OffsiteRedirect, RefusedUrl, TooManyRedirects
from pricewatch.fetching.wanted_status import wants_status
from pricewatch.middlewares.guard import refused

# Scrapy looks at 4096 characters, each of up to four bytes.
LONGEST_HEAD = 4 * 4096


class _OnSite(BaseRedirectMiddleware):
    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        # Scrapy's own also looks for the referrer middleware, which is not used.
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def process_response(self, request: Request, response: Response) -> Request | Response:
        begun = request.meta.get("redirect_urls", [request.url])[0]
        try:
            redirected: Request | Response = super().process_response(request, response)  # type: ignore[misc]  # of the other base
        except IgnoreRequest:
            raise self._failure(TooManyRedirects(f"{begun} is redirected without an end")) from None
        except ValueError:
            raise self._nowhere(request) from None
        if isinstance(redirected, Response):
            return redirected
        if (failure := refused(redirected)) is not None:
            self.crawler.stats.inc_value(f"pricewatch/guard/{failure.reason}")
            failure.by_redirect = True
            raise failure
        if domain_of(redirected) != domain_of(request):
            raise self._failure(OffsiteRedirect(f"{begun} leads to {redirected.url}"))
        return redirected

    def _failure(self, failure: FetchFailure) -> FetchFailure:
        self.crawler.stats.inc_value(f"pricewatch/redirect/{failure.reason}")
        failure.by_redirect = True
        return failure

    def _nowhere(self, request: Request) -> FetchFailure:
        return self._failure(RefusedUrl(f"{request.url} leads to an address that is not on the web"))


class OnSiteRedirectMiddleware(_OnSite, RedirectMiddleware):
    """Redirects by status."""

    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        result = super().process_response(request, response)
        redirects = response.status in (301, 302, 303, 307, 308) and "Location" in response.headers
        if redirects and result is response and not self._wanted(request, response):
            # Scrapy hands such an answer on as it is; its body is not the page either.
            raise self._nowhere(request)
        return result

    def _wanted(self, request: Request, response: Response) -> bool:
        """Whether somebody asked to see the redirect itself."""
        return bool(request.meta.get("dont_redirect")) or wants_status(self.crawler, request, response.status)


class OnSiteMetaRefreshMiddleware(_OnSite, MetaRefreshMiddleware):
    """Redirects by a meta element, for which Scrapy reads the beginning of a page as text."""

    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        begins = response.body[:LONGEST_HEAD].lower()
        # Nearly no page has one, and that is cheap to see; what has NUL bytes may be in UTF-16.
        if b"refresh" not in begins and b"\0" not in begins:
            return response
        return super().process_response(request, response)
