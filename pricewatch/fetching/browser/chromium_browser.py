"""The browser of a crawl: started by the first page that needs JavaScript, restarted before it wears out."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError, DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.utils.httpobj import urlparse_cached

from pricewatch.fetching.browser.chromium import find_chromium
from pricewatch.fetching.browser.forward_proxy import FAILED, REFUSED, ForwardProxy
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import NoBrowser, OffsiteRedirect, RefusedAddress, TooLarge
from pricewatch.fetching.name_resolution import install
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.rules.addresses import PORTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pricewatch.fetching.browser.playwright_handler import PlaywrightHandler

logger = logging.getLogger(__name__)
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # Nothing may go past the gate.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
CLOSE_SECONDS = 10.0


class Browser:
    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._crawler = crawler
        self._stats = crawler.stats
        self._path: str = settings.get("CHROMIUM_PATH") or ""
        self._page_seconds = settings.getfloat("BROWSER_PAGE_SECONDS")
        self._most_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._most_pages = settings.getint("BROWSER_RESTART_PAGES")
        self._most_megabytes = settings.getint("BROWSER_RESTART_MEGABYTES")
        self._room = asyncio.Semaphore(settings.getint("BROWSER_MAX_PAGES"))
        self._door = asyncio.Lock()
        self._nobody = asyncio.Event()
        self._nobody.set()
        self._open = self._opened = 0
        self._book = install(crawler)
        self._gate = ForwardProxy(self._book, crawler.stats, self._most_bytes)
        self._pages: PlaywrightHandler | None = None
        self._missing: NoBrowser | None = None

    async def download(self, request: Request) -> Response:
        async with self._room, self._page() as pages:
            await self._prepare(pages, request)
            response = await self._load(pages, request)
        return self._checked(request, response)

    async def close(self) -> None:
        pages, self._pages = self._pages, None
        if pages is not None:
            with suppress(TimeoutError, Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await pages.close()
        await self._gate.close()

    @asynccontextmanager
    async def _page(self) -> AsyncIterator[PlaywrightHandler]:
        """A browser that works, with one more page open; a worn one is replaced when its pages are done."""
        async with self._door:
            if self._pages is not None and await self._is_worn():
                await self._nobody.wait()
                await self._restart(self._pages)
            pages = self._pages or await self._start()
            self._open += 1
            self._opened += 1
            self._nobody.clear()
        try:
            yield pages
        finally:
            self._open -= 1
            if not self._open:
                self._nobody.set()

    async def _start(self) -> PlaywrightHandler:
        if self._missing is not None:
            raise NoBrowser(str(self._missing))
        from pricewatch.fetching.browser.playwright_handler import PlaywrightHandler

        options: dict[str, Any] = {
            "args": [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
            "proxy": {"server": await self._gate.address()},
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
        }
        try:
            chromium = await asyncio.to_thread(find_chromium, self._path)
        except NoBrowser as missing:
            self._missing = missing
            self._stats.inc_value("pricewatch/browser/missing")
            logger.warning("A page needs a browser: %s", missing)
            raise
        pages = PlaywrightHandler(self._crawler, {**options, "executable_path": chromium.path})
        await pages.launch()
        self._stats.inc_value("pricewatch/browser/started")
        self._pages = pages
        return pages

    async def _is_worn(self) -> bool:
        if self._opened >= self._most_pages:
            return True
        used = await asyncio.to_thread(browser_megabytes)
        self._stats.max_value("pricewatch/browser/megabytes", used)
        return used > self._most_megabytes

    async def _restart(self, pages: PlaywrightHandler) -> None:
        self._opened = 0
        self._stats.inc_value("pricewatch/browser/restarted")
        await pages.restart()

    async def _prepare(self, pages: PlaywrightHandler, request: Request) -> None:
        """One context per domain and proxy: cookies, agent and way out belong together."""
        name = request.meta.get("proxy_name")
        proxy = per_crawl(self._crawler, ProxyPool).by_name(name) if name else None
        if name and proxy is None:
            raise RefusedAddress(f"there is no proxy {name}")
        kwargs: dict[str, Any] = {
            "proxy": {"server": await self._gate.address(proxy)},
            # A service worker would fetch on its own, past our routes.
            "service_workers": "block",
            "accept_downloads": False,
            "user_agent": request.meta.get("browser_user_agent") or await pages.user_agent(),
        }
        request.meta["playwright_context"] = f"{domain_of(request)} {name or 'direct'}"
        request.meta["playwright_context_kwargs"] = kwargs

    async def _load(self, pages: PlaywrightHandler, request: Request) -> Response:
        from playwright.async_api import Error as PlaywrightError
        from playwright.async_api import TimeoutError as PlaywrightTimeout

        from pricewatch.fetching.browser.page_data import with_data

        self._stats.inc_value("pricewatch/browser/pages")
        try:
            async with asyncio.timeout(self._page_seconds):
                response: Response = await pages.download_request(request)
                response = with_data(response, pages.data.get(request, ()))
        except (TimeoutError, PlaywrightTimeout) as error:
            self._stats.inc_value("pricewatch/browser/timed_out")
            raise DownloadTimeoutError(f"the browser was not done with {request.url} in time") from error
        except PlaywrightError as error:
            self._raise_if_refused(request)
            if pages.is_too_large(request):
                raise self._too_large() from error
            self._stats.inc_value("pricewatch/browser/failed")
            if error.message.startswith("BrowserType.launch"):
                raise NoBrowser(f"the browser does not start: {error.message[:200]}") from error
            raise DownloadFailedError(error.message.split("\n")[0]) from error
        finally:
            page = pages.forget(request)
            if page is not None and not page.is_closed():
                with suppress(PlaywrightError, TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await page.close()
        return response

    def _checked(self, request: Request, response: Response) -> Response:
        """What the browser brought, judged as any other answer is."""
        if why := response.headers.get(REFUSED):
            raise RefusedAddress(why.decode("latin-1"))
        if why := response.headers.get(FAILED):
            raise DownloadConnectionRefusedError(why.decode("latin-1"))
        if domain_of(request) != domain_of(Request(response.url)):
            self._stats.inc_value("pricewatch/redirect/offsite_redirect")
            raise OffsiteRedirect(f"{request.url} leads to {response.url}")
        if len(response.body) > self._most_bytes:
            raise self._too_large()
        return response

    def _too_large(self) -> TooLarge:
        self._stats.inc_value("pricewatch/size/too_large")
        return TooLarge("larger than DOWNLOAD_MAXSIZE in the browser")

    def _raise_if_refused(self, request: Request) -> None:
        url = urlparse_cached(request)
        why = self._book.refused(url.hostname or "", url.port or PORTS[url.scheme])
        if why is not None:
            raise RefusedAddress(why)


def browser_megabytes() -> int:
    """What the browser of this process uses of memory, in all its processes."""
    import psutil  # type: ignore[import-untyped]

    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in process.name().lower():
                total += process.memory_info().rss
    return total // 2**20
