"""The browser of a crawl: started by the first page that needs JavaScript, restarted after many pages."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError, DownloadTimeoutError
from scrapy.http import Request, Response

from pricewatch.fetching.browser.chromium import find_chromium
from pricewatch.fetching.browser.forward_proxy import FAILED, REFUSED, ForwardProxy
from pricewatch.fetching.browser.sandbox import check_user
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import NoBrowser, OffsiteRedirect, RefusedAddress, TooLarge
from pricewatch.fetching.name_resolution import host_and_port, install_resolver
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.rules.access.child_environment import browser_environment
from pricewatch.rules.yes_or_no import is_yes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pricewatch.fetching.browser.playwright_handler import PlaywrightHandler

logger = logging.getLogger(__name__)
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # WebRTC would not use the forward proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
]
CLOSE_SECONDS = 10.0


class Browser:
    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._crawler = crawler
        self._stats = crawler.stats
        self._path: str = settings.get("CHROMIUM_PATH") or ""
        self._without_sandbox = is_yes(settings.get("BROWSER_WITHOUT_SANDBOX"))
        self._page_seconds = settings.getfloat("BROWSER_PAGE_SECONDS")
        self._max_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._max_pages = settings.getint("BROWSER_RESTART_PAGES")
        self._max_megabytes = settings.getint("BROWSER_RESTART_MEGABYTES")
        self._page_slots = asyncio.Semaphore(settings.getint("BROWSER_MAX_PAGES"))
        self._start_lock = asyncio.Lock()
        self._no_open_pages = asyncio.Event()
        self._no_open_pages.set()
        self._open = self._opened = 0
        self._addresses = install_resolver(crawler)
        self._forward_proxy = ForwardProxy(self._addresses, crawler.stats, self._max_bytes)
        self._handler: PlaywrightHandler | None = None
        self._missing: NoBrowser | None = None

    async def download(self, request: Request) -> Response:
        async with self._page_slots, self._page() as handler:
            try:
                await self._prepare(handler, request)
                response = await self._load(handler, request)
            finally:
                # It has the password of the forward proxy, which spiders and logs do not need.
                request.meta.pop("playwright_context_kwargs", None)
        return self._check(request, response)

    async def close(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            await _close(handler)
        await self._forward_proxy.close()

    @asynccontextmanager
    async def _page(self) -> AsyncIterator[PlaywrightHandler]:
        """Count one more open page; restart the browser before it if due, when no page is open."""
        async with self._start_lock:
            if self._handler is not None and await self._needs_restart():
                await self._no_open_pages.wait()
                await self._restart(self._handler)
            handler = self._handler or await self._start()
            self._open += 1
            self._opened += 1
            self._no_open_pages.clear()
        try:
            yield handler
        finally:
            self._open -= 1
            if not self._open:
                self._no_open_pages.set()

    async def _start(self) -> PlaywrightHandler:
        if self._missing is not None:
            raise NoBrowser(str(self._missing))
        try:
            self._handler = await self._launch()
        except NoBrowser as missing:
            self._missing = missing
            self._stats.inc_value("pricewatch/browser/missing")
            logger.warning("A page needs a browser: %s", missing)
            raise
        self._stats.inc_value("pricewatch/browser/started")
        return self._handler

    async def _launch(self) -> PlaywrightHandler:
        from pricewatch.fetching.browser.playwright_handler import PlaywrightHandler

        check_user(without_sandbox=self._without_sandbox)
        chromium = await asyncio.to_thread(find_chromium, self._path)
        options = {
            "executable_path": chromium.path,
            "chromium_sandbox": not self._without_sandbox,
            "args": FLAGS,
            "env": browser_environment(os.environ),
            "proxy": await self._forward_proxy.for_browser(),
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
        }
        handler = PlaywrightHandler(self._crawler, options)
        try:
            await handler.launch()
        except BaseException:
            await _close(handler)
            raise
        return handler

    async def _needs_restart(self) -> bool:
        if self._opened >= self._max_pages:
            return True
        used = await asyncio.to_thread(browser_megabytes)
        self._stats.max_value("pricewatch/browser/megabytes", used)
        return used > self._max_megabytes

    async def _restart(self, handler: PlaywrightHandler) -> None:
        self._opened = 0
        self._stats.inc_value("pricewatch/browser/restarted")
        await handler.restart()

    async def _prepare(self, handler: PlaywrightHandler, request: Request) -> None:
        """Use one browser context per domain and proxy, so that proxies do not share cookies."""
        name = request.meta.get("proxy_name")
        proxy = per_crawl(self._crawler, ProxyPool).by_name(name) if name else None
        if name and proxy is None:
            raise RefusedAddress(f"there is no proxy {name}")
        kwargs: dict[str, Any] = {
            "proxy": await self._forward_proxy.for_browser(proxy),
            # A service worker would fetch without our request handler.
            "service_workers": "block",
            "accept_downloads": False,
            "user_agent": request.meta.get("browser_user_agent") or await handler.user_agent(),
        }
        request.meta["playwright_context"] = f"{domain_of(request)} {name or 'direct'}"
        request.meta["playwright_context_kwargs"] = kwargs

    async def _load(self, handler: PlaywrightHandler, request: Request) -> Response:
        from playwright.async_api import Error as PlaywrightError
        from playwright.async_api import TimeoutError as PlaywrightTimeout

        from pricewatch.fetching.browser.page_data import with_data

        self._stats.inc_value("pricewatch/browser/pages")
        try:
            async with asyncio.timeout(self._page_seconds):
                response: Response = await handler.download_request(request)
                response = with_data(response, handler.data.get(request, ()))
        except (TimeoutError, PlaywrightTimeout) as error:
            self._stats.inc_value("pricewatch/browser/timed_out")
            raise DownloadTimeoutError(f"the browser did not load {request.url} in time") from error
        except PlaywrightError as error:
            self._raise_if_refused(request)
            if handler.is_too_large(request):
                raise self._too_large() from error
            self._stats.inc_value("pricewatch/browser/failed")
            raise DownloadFailedError(error.message.split("\n")[0]) from error
        finally:
            page = handler.forget(request)
            if page is not None and not page.is_closed():
                with suppress(PlaywrightError, TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await page.close()
        return response

    def _check(self, request: Request, response: Response) -> Response:
        """Apply the checks that other downloads get from middlewares."""
        if REFUSED in response.headers:
            # A site may send this header too: only what the forward proxy recorded counts.
            self._raise_if_refused(Request(response.url))
        if why := response.headers.get(FAILED):
            raise DownloadConnectionRefusedError(why.decode("latin-1"))
        if domain_of(request) != domain_of(Request(response.url)):
            self._stats.inc_value("pricewatch/redirect/offsite_redirect")
            raise OffsiteRedirect(f"{request.url} redirects to {response.url}")
        if len(response.body) > self._max_bytes:
            raise self._too_large()
        return response

    def _too_large(self) -> TooLarge:
        self._stats.inc_value("pricewatch/size/too_large")
        return TooLarge("larger than DOWNLOAD_MAXSIZE in the browser")

    def _raise_if_refused(self, request: Request) -> None:
        failure = self._addresses.recorded_failure(*host_and_port(request))
        if failure is not None:
            raise failure


async def _close(handler: PlaywrightHandler) -> None:
    with suppress(TimeoutError, Exception):
        async with asyncio.timeout(CLOSE_SECONDS):
            await handler.close()


def browser_megabytes() -> int:
    """Return the memory that all browser processes of this process use."""
    import psutil  # type: ignore[import-untyped]

    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in process.name().lower():
                total += process.memory_info().rss
    return total // 2**20
