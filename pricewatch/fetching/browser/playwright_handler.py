"""scrapy-playwright's handler, with our own word on what a page may load."""

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
from scrapy.http import Request
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from pricewatch.fetching.browser.page_data import PageData
from pricewatch.fetching.browser.page_size import PageSize
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import FetchFailure
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.rate_limit.limiter import rate_limiter
from pricewatch.middlewares.rate_limit import RateLimitMiddleware

# Measuring visitors is not what we come for; these are the ones that most shops load.
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

RouteHandler = Callable[[Route, PlaywrightRequest], Awaitable[None]]


class PlaywrightHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # has no types
    """Opens pages; remembers them, so that one that takes too long can be closed."""

    def __init__(self, crawler: Crawler, launch_options: dict[str, Any]):
        super().__init__(crawler)
        settings = crawler.settings
        self.config.launch_options = launch_options
        self.config.max_pages_per_context = settings.getint("BROWSER_MAX_PAGES")
        # A retry has to wait for the rate limit as well.
        self.config.target_closed_max_retries = 0
        self.config.navigation_timeout_ms = settings.getfloat("DOWNLOAD_TIMEOUT") * 1000
        # The browser's own headers agree with the browser.
        self.process_request_headers = None
        self.pages: dict[Request, Page] = {}
        self._sizes: dict[Request, PageSize] = {}
        self._listening: dict[Request, PageData] = {}
        self.data: dict[Request, list[tuple[str, str]]] = {}
        self._most_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._settle_ms = settings.getfloat("BROWSER_SETTLE_SECONDS") * 1000
        self._blocked = frozenset(settings.getlist("BROWSER_BLOCKED_RESOURCES"))
        self._limited = frozenset(settings.getlist("BROWSER_LIMITED_RESOURCES"))
        self._policies = per_crawl(crawler, FetchPolicies)
        self._gone = asyncio.Event()
        self._charges: set[asyncio.Task[None]] = set()

    async def launch(self) -> None:
        await self._launch()

    async def restart(self) -> None:
        """Close the browser; the next page starts another."""
        if hasattr(self, "browser"):
            self._gone.clear()
            await self.browser.close()
            await self._gone.wait()

    async def user_agent(self) -> str:
        """What this very browser calls itself when somebody sits in front of it."""
        await self._maybe_launch_browser()
        major = self.browser.version.partition(".")[0]
        return (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{major}.0.0.0 Safari/537.36"
        )

    async def _browser_disconnected_callback(self) -> None:
        await super()._browser_disconnected_callback()
        self.stats.inc_value("pricewatch/browser/ended")
        self._gone.set()

    async def _create_page(self, request: Request, spider: Spider) -> Page:
        page: Page = await super()._create_page(request, spider)
        self.pages[request] = page
        self._sizes[request] = await PageSize.watch(page, self._most_bytes)
        page.on("request", self._charge_redirect)
        if patterns := request.meta.get("page_data"):
            self._listening[request] = PageData(page, patterns, self._most_bytes)
        return page

    def is_too_large(self, request: Request) -> bool:
        return request in self._sizes and self._sizes[request].is_too_large

    def forget(self, request: Request) -> Page | None:
        """Let go of all that was kept for a request; answers with its page."""
        self._sizes.pop(request, None)
        self._listening.pop(request, None)
        self.data.pop(request, None)
        return self.pages.pop(request, None)

    def _make_request_handler(self, **kwargs: Any) -> RouteHandler:
        go_on: RouteHandler = super()._make_request_handler(**kwargs)
        page_domain = domain_of(Request(kwargs["url"]))
        # The page has a reservation when it comes here; if opening it took too long, it needs another.
        asked_for = next((each for each in self.pages if each.headers is kwargs["headers"]), None)
        send_deadline = asked_for.meta.get("send_deadline", math.inf) if asked_for else 0.0
        first = True

        async def handle(route: Route, request: PlaywrightRequest) -> None:
            nonlocal first
            in_time = monotonic() < send_deadline
            is_reserved, first = first and in_time and request.is_navigation_request(), False
            if self._unwanted(request) or not (is_reserved or await self._may_send(request, page_domain)):
                self.stats.inc_value("pricewatch/browser/requests_blocked")
                with suppress(PlaywrightError):
                    await route.abort()
                return
            self.stats.inc_value("pricewatch/browser/requests")
            await go_on(route, request)

        return handle

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        """Scripts need a moment after the page has loaded; a page that never rests is read as it is then."""
        await super()._apply_page_methods(page, request, spider)
        with suppress(PlaywrightTimeout):
            await page.wait_for_load_state("networkidle", timeout=self._settle_ms)
        if listener := self._listening.pop(request, None):
            self.data[request] = await listener.read()

    def _unwanted(self, request: PlaywrightRequest) -> bool:
        # A browser asks for a site's icon as for something else.
        icon = request.resource_type == "other" and request.url.endswith((".ico", ".png", ".svg"))
        if request.resource_type in self._blocked or (icon and "image" in self._blocked):
            return True
        domain = domain_of(Request(request.url)) if request.url.startswith("http") else ""
        return not domain or domain in TRACKERS

    async def _may_send(self, request: PlaywrightRequest, page_domain: str) -> bool:
        """Wait for the rate limit where the request goes to the site of the page, or to a known source."""
        domain = domain_of(Request(request.url))
        ours = domain == page_domain or self._policies.knows(domain)
        if not ours or request.resource_type not in self._limited:
            return True
        try:
            await self._wait(domain)
        except FetchFailure:
            return False
        return True

    async def _wait(self, domain: str) -> None:
        """Wait for the rate limit without a slot: what a page loads runs in the slot of the page."""
        limits = self.crawler.get_downloader_middleware(RateLimitMiddleware)
        if limits is not None and not limits.is_lifted(domain):
            limit = self._policies.limit(domain)
            await per_crawl(self.crawler, rate_limiter).acquire(domain, limit, slot=False, browser=True)

    def _charge_redirect(self, request: PlaywrightRequest) -> None:
        """A browser follows redirects by itself: they count against the budget afterwards."""
        if request.redirected_from is not None and request.url.startswith("http"):
            charge = asyncio.create_task(self._charge(domain_of(Request(request.url))))
            self._charges.add(charge)
            charge.add_done_callback(self._charges.discard)

    async def _charge(self, domain: str) -> None:
        with suppress(FetchFailure):
            await self._wait(domain)
