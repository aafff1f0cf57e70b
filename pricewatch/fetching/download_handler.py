"""Downloads: over HTTP with Scrapy's handler, pages that need JavaScript with a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError
from scrapy.http import Request, Response
from scrapy.utils.httpobj import urlparse_cached
from twisted.web.client import HTTPConnectionPool

from pricewatch.fetching.failures import RefusedAddress, TooLarge
from pricewatch.fetching.name_resolution import installed_policy
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.rules.addresses import PORTS

if TYPE_CHECKING:
    from pricewatch.fetching.browser.chromium_browser import Browser


class DownloadHandler(HTTP11DownloadHandler):
    """The first page that needs the browser starts it; http and https share it."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        # Twisted would repeat a request without the rate limiter. On the class, because Scrapy's handler
        # has no public name for its pool; crawl processes have no other pool that needs retries.
        HTTPConnectionPool.retryAutomatically = False
        self._browser: Browser | None = None

    async def download_request(self, request: Request) -> Response:
        if request.meta.get("playwright"):
            return await self._get_browser().download(request)
        try:
            return await super().download_request(request)
        except CannotResolveHostError:
            self._raise_if_refused(request)
            raise
        except DownloadCancelledError as error:
            self.crawler.stats.inc_value("pricewatch/size/too_large")
            raise TooLarge("larger than DOWNLOAD_MAXSIZE") from error

    async def close(self) -> None:
        await super().close()
        if self._browser is not None:
            await self._browser.close()

    def _raise_if_refused(self, request: Request) -> None:
        """Report refused addresses; Twisted reports such a name as one that does not exist."""
        url = urlparse_cached(request)
        policy = installed_policy()
        port = url.port or PORTS[url.scheme]
        why = policy.recorded_refusal(url.hostname or "", port) if policy else None
        if why is not None:
            self.crawler.stats.inc_value("pricewatch/guard/refused_address")
            raise RefusedAddress(why) from None

    def _get_browser(self) -> Browser:
        if self._browser is None:
            from pricewatch.fetching.browser.chromium_browser import Browser

            self._browser = per_crawl(self.crawler, Browser)
        return self._browser
