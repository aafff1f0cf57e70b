"""Downloads: over HTTP with Scrapy's handler, pages that need JavaScript with a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, DownloadFailedError
from scrapy.http import Request, Response
from twisted.web.client import HTTPConnectionPool

from pricewatch.fetching.failures import FetchFailure, TooLarge
from pricewatch.fetching.header_limit import is_caused_by_headers, limit_headers
from pricewatch.fetching.name_resolution import host_and_port, installed_policy
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.parsing.page_encodings import use_standard_encodings

if TYPE_CHECKING:
    from pricewatch.fetching.browser.chromium_browser import Browser


class DownloadHandler(HTTP11DownloadHandler):
    """The first page that needs the browser starts it; http and https share it."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        # Twisted would repeat a request without the rate limiter. On the class, because Scrapy's handler
        # has no public name for its pool; crawl processes have no other pool that needs retries.
        HTTPConnectionPool.retryAutomatically = False
        limit_headers()
        use_standard_encodings()
        self._browser: Browser | None = None

    async def download_request(self, request: Request) -> Response:
        if request.meta.get("playwright"):
            return await self._get_browser().download(request)
        if request.meta.get("proxy"):
            await self._check_for_proxy(request)
        try:
            return await super().download_request(request)
        except CannotResolveHostError:
            self._raise_if_refused(request)
            raise
        except DownloadFailedError as error:
            if is_caused_by_headers(error):
                self.crawler.stats.inc_value("pricewatch/size/too_large")
                raise TooLarge("the headers are larger than 256 KiB") from error
            raise
        except DownloadCancelledError as error:
            self.crawler.stats.inc_value("pricewatch/size/too_large")
            raise TooLarge("larger than DOWNLOAD_MAXSIZE") from error

    async def close(self) -> None:
        await super().close()
        if self._browser is not None:
            await self._browser.close()

    async def _check_for_proxy(self, request: Request) -> None:
        """Check the addresses of the host: the proxy connects to it, past the resolver of this process."""
        if policy := installed_policy():
            try:
                await policy.check_for_proxy(*host_and_port(request))
            except FetchFailure as failure:
                self.crawler.stats.inc_value(f"pricewatch/guard/{failure.reason}")
                raise

    def _raise_if_refused(self, request: Request) -> None:
        """Report refused addresses; Twisted reports such a name as one that does not exist."""
        policy = installed_policy()
        failure = policy.recorded_failure(*host_and_port(request)) if policy else None
        if failure is not None:
            self.crawler.stats.inc_value(f"pricewatch/guard/{failure.reason}")
            raise failure from None

    def _get_browser(self) -> Browser:
        if self._browser is None:
            from pricewatch.fetching.browser.chromium_browser import Browser

            self._browser = per_crawl(self.crawler, Browser)
        return self._browser
