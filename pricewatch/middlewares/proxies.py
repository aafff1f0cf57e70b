"""Proxies by source: none, datacenter or residential. Where a source wants one, nothing ever goes direct."""

from __future__ import annotations

import logging
import re
from collections.abc import Coroutine
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Self

from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
    ResponseDataLossError,
)
from scrapy.http import Request, Response
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.middlewares.downloader import domain_of, stepping_aside
from pricewatch.middlewares.failures import FetchFailure, NoProxy
from pricewatch.middlewares.patience import Patience
from pricewatch.middlewares.policies import Policies
from pricewatch.middlewares.shared import shared
from pricewatch.middlewares.store_thread import StoreThread
from pricewatch.rules.proxies import BLAMED_STATUS, STRATEGIES, Proxy, parse_proxies
from pricewatch.store import proxy_blocks
from pricewatch.store.fetch_policies import FetchPolicy

logger = logging.getLogger(__name__)
LOOK_AGAIN_SECONDS = 5.0
NETWORK_ERRORS = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    TunnelError,
    ConnectError,
    ConnectionDone,
    ConnectionLost,
    OSError,
)


class ProxyPool:
    """The proxies of this crawl, and which of them are blocked for a domain."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._pools = {kind: parse_proxies(settings.get(name) or ()) for kind, name in STRATEGIES.items()}
        self._store = shared(crawler, StoreThread)
        self._policies = shared(crawler, Policies)
        self._stats = crawler.stats
        self._turn = count()

    def pool(self, strategy: str) -> list[Proxy]:
        return self._pools[strategy]

    def by_name(self, name: str) -> Proxy | None:
        return next((proxy for pool in self._pools.values() for proxy in pool if proxy.name == name), None)

    async def blocked(self, domain: str) -> dict[str, datetime]:
        now = clock.now()
        try:
            return await self._store.ask(lambda connection: proxy_blocks.blocked(connection, domain, now))
        except DatabaseUnavailable as error:
            raise NoProxy(f"which proxies are blocked is not known: {error}") from error

    def choose(self, free: list[Proxy], tried: list[str]) -> Proxy:
        """The next in line, and one that has not failed for this very request where there is one."""
        fresh = [proxy for proxy in free if proxy.name not in tried] or free
        return fresh[next(self._turn) % len(fresh)]

    async def failed(self, request: Request, error: str) -> None:
        """A datacenter proxy that fails is not used for this domain for a while; residential ones rotate."""
        policy, name = self._policies.of(request), request.meta.get("proxy_name")
        if policy is None or name is None:
            return
        tried = request.meta.setdefault("proxies_tried", [])
        if name not in tried:
            tried.append(name)
        self._stats.inc_value("pricewatch/proxies/failed")
        self._stats.inc_value(f"pricewatch/proxies/failed/{name}")
        if policy.proxy_strategy != "datacenter":
            return
        domain, now = domain_of(request), clock.now()
        until = now + timedelta(minutes=policy.cooldown_minutes)
        logger.warning(
            "Proxy %s is not used for %s until %s: %s", name, domain, f"{until:%H:%M} UTC", masked(error)
        )
        await self._store.ask(
            lambda connection: proxy_blocks.block(
                connection, domain, name, error=masked(error), now=now, until=until
            )
        )
        self._stats.inc_value("pricewatch/proxies/blocked")


class ProxiesMiddleware:
    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        if not settings.getbool("PROXIES_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._policies = shared(crawler, Policies)
        self._pool = shared(crawler, ProxyPool)
        self._patience = shared(crawler, Patience)
        self._longest_wait = settings.getfloat("PROXIES_MAX_WAIT")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        policy = self._policies.of(request)
        if policy is None or policy.proxy_strategy == "none":
            return None
        return self._through_proxy(request, policy)

    def process_response(self, request: Request, response: Response) -> Any:
        if "proxy_name" not in request.meta:
            return response
        request.headers.pop("Proxy-Authorization", None)
        return self._judged(request, response) if response.status in BLAMED_STATUS else response

    def process_exception(self, request: Request, exception: Exception) -> Coroutine[Any, Any, None] | None:
        if "proxy_name" not in request.meta:
            return None
        request.headers.pop("Proxy-Authorization", None)
        blamed = isinstance(exception, NETWORK_ERRORS) and not isinstance(exception, FetchFailure)
        return self._pool.failed(request, f"{type(exception).__name__}: {exception}") if blamed else None

    async def _judged(self, request: Request, response: Response) -> Response:
        await self._pool.failed(request, f"status {response.status}")
        return response

    async def _through_proxy(self, request: Request, policy: FetchPolicy) -> None:
        try:
            proxy = await self._choose(request, policy)
        except NoProxy:
            self._crawler.stats.inc_value("pricewatch/proxies/none_left")
            raise
        request.meta["proxy"] = proxy.url
        request.meta["proxy_name"] = proxy.name
        request.headers.pop("Proxy-Authorization", None)
        if proxy.authorization:
            request.headers["Proxy-Authorization"] = proxy.authorization
        self._crawler.stats.inc_value("pricewatch/proxies/used")
        self._crawler.stats.inc_value(f"pricewatch/proxies/used/{proxy.name}")

    async def _choose(self, request: Request, policy: FetchPolicy) -> Proxy:
        strategy, domain = policy.proxy_strategy, domain_of(request)
        pool = self._pool.pool(strategy)
        if not pool:
            raise NoProxy(f"{policy.source_id} wants {strategy} proxies: set {STRATEGIES[strategy]}")
        tried: list[str] = request.meta.get("proxies_tried", [])
        if strategy != "datacenter":
            return self._pool.choose(pool, tried)
        patience_ends = clock.now() + timedelta(seconds=self._longest_wait)
        while True:
            blocked = await self._pool.blocked(domain)
            free = [proxy for proxy in pool if proxy.name not in blocked]
            if free:
                return self._pool.choose(free, tried)
            soonest = min(until for name, until in blocked.items() if any(name == each.name for each in pool))
            if soonest > patience_ends:
                raise NoProxy(
                    f"all {len(pool)} {strategy} proxies are blocked for {domain} until {soonest:%H:%M} UTC"
                )
            wait = (soonest - clock.now()).total_seconds()
            with stepping_aside(self._crawler, request):
                await self._patience.sleep(min(max(wait, 0.1), LOOK_AGAIN_SECONDS))


def masked(text: str) -> str:
    """The same text without credentials in addresses."""
    return re.sub(r"//[^/@\s]+@", "//…@", text)
