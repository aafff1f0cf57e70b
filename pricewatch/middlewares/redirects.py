"""Follow redirects within a site; a redirect to another site is a failure."""

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
from pricewatch.fetching.handled_status import handles_status
from pricewatch.middlewares.guard import refused

# Scrapy searches 4096 characters of up to four bytes each.
MAX_HEAD_BYTES = 4 * 4096


class _OnSiteRedirects(BaseRedirectMiddleware):
    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        # Scrapy's method also requires the referrer middleware, which is disabled.
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def process_response(self, request: Request, response: Response) -> Request | Response:
        first_url = request.meta.get("redirect_urls", [request.url])[0]
        try:
            redirected: Request | Response = super().process_response(request, response)  # type: ignore[misc]  # defined by the other base class
        except IgnoreRequest:
            raise self._failure(TooManyRedirects(f"{first_url} redirects too many times")) from None
        except ValueError:
            raise self._invalid_target(request) from None
        if isinstance(redirected, Response):
            return redirected
        if (failure := refused(redirected)) is not None:
            self.crawler.stats.inc_value(f"pricewatch/guard/{failure.reason}")
            failure.by_redirect = True
            raise failure
        if domain_of(redirected) != domain_of(request):
            raise self._failure(OffsiteRedirect(f"{first_url} redirects to {redirected.url}"))
        return redirected

    def _failure(self, failure: FetchFailure) -> FetchFailure:
        self.crawler.stats.inc_value(f"pricewatch/redirect/{failure.reason}")
        failure.by_redirect = True
        return failure

    def _invalid_target(self, request: Request) -> FetchFailure:
        return self._failure(RefusedUrl(f"{request.url} redirects to an invalid URL"))


class OnSiteRedirectMiddleware(_OnSiteRedirects, RedirectMiddleware):
    """Redirects by status."""

    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        result = super().process_response(request, response)
        redirects = response.status in (301, 302, 303, 307, 308) and "Location" in response.headers
        if redirects and result is response and not self._is_handled(request, response):
            # Scrapy returns such a response unchanged, but its body is not the page.
            raise self._invalid_target(request)
        return result

    def _is_handled(self, request: Request, response: Response) -> bool:
        """Return whether the request or the spider handles the redirect itself."""
        return bool(request.meta.get("dont_redirect")) or handles_status(
            self.crawler, request, response.status
        )


class OnSiteMetaRefreshMiddleware(_OnSiteRedirects, MetaRefreshMiddleware):
    """Redirects by a meta element, for which Scrapy parses the beginning of a page."""

    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        head = response.body[:MAX_HEAD_BYTES].lower()
        # A cheap check, as few pages have one; a page with NUL bytes may be UTF-16.
        if b"refresh" not in head and b"\0" not in head:
            return response
        # Scrapy would decode all of the page.
        beginning = response.replace(body=response.body[:MAX_HEAD_BYTES])
        result = super().process_response(request, beginning)
        return response if result is beginning else result
