"""Wait up to PROXIES_MAX_WAIT while all proxies of a source are blocked; never connect directly."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request

from pricewatch import clock
from pricewatch.fetching.downloader import domain_of, paused_request
from pricewatch.fetching.failures import NoProxy
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.store.fetch_state.source_policies import FetchPolicy

POLL_SECONDS = 5.0


class ProxyWaitMiddleware:
    """Before the rate limit: a request without a proxy must not use up a reservation."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        if not settings.getbool("PROXIES_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._policies = per_crawl(crawler, FetchPolicies)
        self._pool = per_crawl(crawler, ProxyPool)
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._max_wait = settings.getfloat("PROXIES_MAX_WAIT")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        policy = self._policies.of(request)
        if policy is None or policy.proxy_strategy == "none":
            return None
        return self._wait(request, policy)

    async def _wait(self, request: Request, policy: FetchPolicy) -> None:
        domain = domain_of(request)
        deadline = clock.now() + timedelta(seconds=self._max_wait)
        try:
            if not self._pool.is_fresh(policy, domain):
                await self._pool.refresh(domain)
            while not self._pool.free(policy, domain):
                soonest = self._pool.free_again(policy, domain)
                if soonest > deadline:
                    raise NoProxy(
                        f"all {len(self._pool.pool(policy))} {policy.proxy_strategy} proxies are blocked "
                        f"for {domain} until {soonest:%H:%M} UTC"
                    )
                wait = (soonest - clock.now()).total_seconds()
                with paused_request(self._crawler, request):
                    await self._sleep.sleep(min(max(wait, 0.05), POLL_SECONDS))
                await self._pool.refresh(domain)
        except NoProxy:
            self._crawler.stats.inc_value("pricewatch/proxies/none_left")
            raise
