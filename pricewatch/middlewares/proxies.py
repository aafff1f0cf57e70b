"""Send requests through the proxies of their source, and block proxies that fail."""

from __future__ import annotations

from collections.abc import Coroutine
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

from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import NoProxy
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.rules.proxy_config import BLAMED_STATUS
from pricewatch.store.fetch_state.source_policies import FetchPolicy

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


class ProxiesMiddleware:
    """After the rate limit: a proxy may have been blocked while the request waited."""

    def __init__(self, crawler: Crawler):
        if not crawler.settings.getbool("PROXIES_ENABLED"):
            raise NotConfigured
        self._stats = crawler.stats
        self._policies = per_crawl(crawler, FetchPolicies)
        self._pool = per_crawl(crawler, ProxyPool)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        policy = self._policies.of(request)
        if policy is None or policy.proxy_strategy == "none":
            return None
        if self._pool.is_fresh(policy, domain_of(request)):
            self._use(request, policy)
            return None
        return self._refresh_and_use(request, policy)

    def process_response(self, request: Request, response: Response) -> Any:
        if "proxy_name" not in request.meta:
            return response
        request.headers.pop("Proxy-Authorization", None)
        return self._report_status(request, response) if response.status in BLAMED_STATUS else response

    def process_exception(self, request: Request, exception: Exception) -> Coroutine[Any, Any, None] | None:
        if "proxy_name" not in request.meta:
            return None
        request.headers.pop("Proxy-Authorization", None)
        if not isinstance(exception, NETWORK_ERRORS):
            return None
        return self._pool.failed(request, f"{type(exception).__name__}: {exception}")

    async def _report_status(self, request: Request, response: Response) -> Response:
        await self._pool.failed(request, f"status {response.status}")
        return response

    async def _refresh_and_use(self, request: Request, policy: FetchPolicy) -> None:
        await self._pool.refresh(domain_of(request))
        self._use(request, policy)

    def _use(self, request: Request, policy: FetchPolicy) -> None:
        free = self._pool.free(policy, domain_of(request))
        if not free:
            self._stats.inc_value("pricewatch/proxies/none_left")
            raise NoProxy(f"all {policy.proxy_strategy} proxies have been blocked for {domain_of(request)}")
        proxy = self._pool.choose(free, request.meta.get("proxies_tried", []))
        request.meta["proxy"] = proxy.url
        request.meta["proxy_name"] = proxy.name
        if proxy.authorization:
            request.headers["Proxy-Authorization"] = proxy.authorization
        else:
            request.headers.pop("Proxy-Authorization", None)
        self._stats.inc_value("pricewatch/proxies/used")
        self._stats.inc_value(f"pricewatch/proxies/used/{proxy.name}")
