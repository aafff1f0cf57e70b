"""scrapy-playwright's handler, with rules for what a page may load."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Route
from playwright.async_api import Request as PlaywrightRequest
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from pricewatch.fetching.browser.page_data import PageData
from pricewatch.fetching.browser.page_size import PageSize
from pricewatch.fetching.browser.sandbox import start_failure
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import FetchFailure, NoBrowser
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.rate_limit.limiter import rate_limiter
from pricewatch.rules.access.child_environment import browser_environment

# The trackers and advertisers that most shops load; pages work without them.
TRACKERS = frozenset(
    {
        "adform.net", "adnxs.com", "adsrvr.org", "bing.com", "bugsnag.com", "clarity.ms", "criteo.com",
        "criteo.net", "demdex.net", "doubleclick.net", "everesttech.net", "facebook.net", "fullstory.com",
        "google-analytics.com", "googleadservices.com", "googlesyndication.com", "googletagmanager.com",
        "hotjar.com", "intercom.io", "klaviyo.com", "mixpanel.com", "mouseflow.com", "newrelic.com",
        "nr-data.net", "omtrdc.net", "optimizely.com", "outbrain.com", "pinimg.com", "quantserve.com",
        "rubiconproject.com", "scorecardresearch.com", "segment.com", "segment.io", "sentry.io",
        "snapchat.com", "taboola.com", "tiktok.com", "yandex.ru", "yieldlab.net",
    }
)  # fmt: skip

OTHER_DRIVER = "the driver of this playwright would get all secrets: install playwright 1.65"
RouteHandler = Callable[[Route, PlaywrightRequest], Awaitable[None]]


class PlaywrightHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # has no types
    """Open pages, and store them by request so that a page that takes too long can be closed."""

    def __init__(self, crawler: Crawler, launch_options: dict[str, Any]):
        super().__init__(crawler)
        settings = crawler.settings
        self.config.launch_options = launch_options
        self.config.max_pages_per_context = settings.getint("BROWSER_MAX_PAGES")
        # Retries have to wait for the rate limiter, so a middleware does them.
        self.config.target_closed_max_retries = 0
        self.config.navigation_timeout_ms = settings.getfloat("DOWNLOAD_TIMEOUT") * 1000
        # Send the headers of the browser itself.
        self.process_request_headers = None
        self.pages: dict[Request, Page] = {}
        self._sizes: dict[Request, PageSize] = {}
        self._collectors: dict[Request, PageData] = {}
        self.data: dict[Request, list[tuple[str, str]]] = {}
        self._max_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._settle_ms = settings.getfloat("BROWSER_SETTLE_SECONDS") * 1000
        self._blocked = frozenset(settings.getlist("BROWSER_BLOCKED_RESOURCES"))
        self._limited = frozenset(settings.getlist("BROWSER_LIMITED_RESOURCES"))
        self._policies = per_crawl(crawler, FetchPolicies)
        self._closed = asyncio.Event()
        self._charges: set[asyncio.Task[None]] = set()

    async def launch(self) -> None:
        """Start playwright's driver and the browser."""
        limit_driver_environment()
        try:
            await self._launch()
        except PlaywrightError as error:
            raise start_failure(error.message) from None
        await self._maybe_launch_browser()

    async def restart(self) -> None:
        """Close the browser; the next page starts a new one."""
        if hasattr(self, "browser"):
            self._closed.clear()
            await self.browser.close()
            await self._closed.wait()

    async def user_agent(self) -> str:
        """Return the user agent of this browser without the word "Headless"."""
        await self._maybe_launch_browser()
        major = self.browser.version.partition(".")[0]
        return (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{major}.0.0.0 Safari/537.36"
        )

    async def _maybe_launch_browser(self) -> None:
        try:
            await super()._maybe_launch_browser()
        except PlaywrightTimeout as error:
            raise DownloadTimeoutError("the browser did not start in time") from error
        except PlaywrightError as error:
            raise start_failure(error.message) from None

    async def _browser_disconnected_callback(self) -> None:
        await super()._browser_disconnected_callback()
        self.stats.inc_value("pricewatch/browser/ended")
        self._closed.set()

    async def _create_page(self, request: Request, spider: Spider) -> Page:
        page: Page = await super()._create_page(request, spider)
        self.pages[request] = page
        self._sizes[request] = await PageSize.watch(page, self._max_bytes)
        page.on("request", self._charge_redirect)
        if patterns := request.meta.get("page_data"):
            self._collectors[request] = PageData(page, patterns, self._max_bytes)
        return page

    def is_too_large(self, request: Request) -> bool:
        return request in self._sizes and self._sizes[request].is_too_large

    def forget(self, request: Request) -> Page | None:
        """Remove the state of a request, and return its page."""
        self._sizes.pop(request, None)
        self._collectors.pop(request, None)
        self.data.pop(request, None)
        return self.pages.pop(request, None)

    def _make_request_handler(self, **kwargs: Any) -> RouteHandler:
        proceed: RouteHandler = super()._make_request_handler(**kwargs)
        page_domain = domain_of(Request(kwargs["url"]))
        # The page already has a reservation, which is lost if opening the page took too long.
        owner = next((each for each in self.pages if each.headers is kwargs["headers"]), None)
        send_deadline = owner.meta.get("send_deadline", math.inf) if owner else 0.0
        first = True

        async def handle(route: Route, request: PlaywrightRequest) -> None:
            nonlocal first
            in_time = monotonic() < send_deadline
            is_reserved, first = first and in_time and request.is_navigation_request(), False
            if self._is_blocked(request) or not (is_reserved or await self._may_send(request, page_domain)):
                self.stats.inc_value("pricewatch/browser/requests_blocked")
                with suppress(PlaywrightError):
                    await route.abort()
                return
            self.stats.inc_value("pricewatch/browser/requests")
            await proceed(route, request)

        return handle

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        """Let scripts finish: wait until the network is idle, but at most BROWSER_SETTLE_SECONDS."""
        await super()._apply_page_methods(page, request, spider)
        with suppress(PlaywrightTimeout):
            await page.wait_for_load_state("networkidle", timeout=self._settle_ms)
        if collector := self._collectors.pop(request, None):
            self.data[request] = await collector.read()
        await self._sizes[request].check_document()

    def _is_blocked(self, request: PlaywrightRequest) -> bool:
        # Browsers request a site's icon with the resource type "other".
        icon = request.resource_type == "other" and request.url.endswith((".ico", ".png", ".svg"))
        if request.resource_type in self._blocked or (icon and "image" in self._blocked):
            return True
        domain = domain_of(Request(request.url)) if request.url.startswith("http") else ""
        return not domain or domain in TRACKERS

    async def _may_send(self, request: PlaywrightRequest, page_domain: str) -> bool:
        """Wait for the rate limit if the request goes to the site of the page or to a known source."""
        domain = domain_of(Request(request.url))
        is_limited = domain == page_domain or self._policies.knows(domain)
        if not is_limited or request.resource_type not in self._limited:
            return True
        try:
            await self._wait(domain)
        except FetchFailure:
            return False
        return True

    async def _wait(self, domain: str) -> None:
        """Wait for the rate limit without a slot: requests of a page share the slot of the page."""
        settings = self.crawler.settings
        limit = self._policies.limit(domain)
        is_unlimited = limit.is_unlimited(settings.getfloat("RATE_LIMIT_UNLIMITED"))
        if settings.getbool("RATE_LIMIT_ENABLED") and not is_unlimited:
            await per_crawl(self.crawler, rate_limiter).acquire(domain, limit, slot=False, browser=True)

    def _charge_redirect(self, request: PlaywrightRequest) -> None:
        """Count a redirect against the rate limit afterwards: the browser follows it by itself."""
        if request.redirected_from is not None and request.url.startswith("http"):
            charge = asyncio.create_task(self._charge(domain_of(Request(request.url))))
            self._charges.add(charge)
            charge.add_done_callback(self._charges.discard)

    async def _charge(self, domain: str) -> None:
        with suppress(FetchFailure):
            await self._wait(domain)


def limit_driver_environment() -> None:
    """Start playwright's driver without secrets; it has no option for that, only a private function."""
    try:
        from playwright._impl import transport
        from playwright._impl.transport import get_driver_env  # type: ignore[attr-defined]  # not exported
    except ImportError:
        raise NoBrowser(OTHER_DRIVER) from None
    if get_driver_env.__module__ != __name__:
        transport.get_driver_env = _limited(get_driver_env)  # type: ignore[attr-defined]


def _limited(driver_environment: Callable[[], dict[str, str]]) -> Callable[[], dict[str, str]]:
    return lambda: browser_environment(driver_environment())
