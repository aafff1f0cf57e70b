"""How each source may be fetched: read once per run, used for every request."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request

from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.parsing.url import InvalidUrl, is_unregistered_host, site_of
from pricewatch.rules.request_budget import Limit, effective_limit
from pricewatch.store.fetch_state.source_policies import FetchPolicy, load_policies


class FetchPolicies:
    """Policies by registrable domain, and the Crawl-delays of robots.txt files."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._crawler = crawler
        self._defaults = {
            "requests_per_second": settings.getfloat("REQUESTS_PER_SECOND"),
            "min_delay": settings.getint("MIN_DELAY_MS") / 1000,
            "max_concurrent": settings.getint("MAX_CONCURRENT"),
        }
        self._min_delay = settings.getfloat("DOWNLOAD_DELAY")
        self._slots = settings.getdict("DOWNLOAD_SLOTS")
        self._max_concurrent = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._by_domain: dict[str, list[FetchPolicy]] = {}
        self._crawl_delays: dict[str, float] = {}
        self._limits: dict[str, Limit] = {}
        self._loading: asyncio.Future[None] | None = None
        crawler.signals.connect(self.load, signals.spider_opened)

    async def load(self) -> None:
        """Read the sources, once per crawl."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load())
        await asyncio.shield(self._loading)

    async def _load(self) -> None:
        for policy in await per_crawl(self._crawler, DatabaseThread).query(load_policies):
            self.add(policy)

    def add(self, policy: FetchPolicy) -> None:
        # All shops of a machine share an IP address or localhost: only host and port identify one of them.
        for url in (
            {policy.base_url} if is_unregistered_host(policy.domain) else {policy.domain, policy.base_url}
        ):
            try:
                domain = site_of(url)
            except InvalidUrl:
                continue
            known = self._by_domain.setdefault(domain, [])
            if policy not in known:
                known.append(policy)
            self._limits.pop(domain, None)

    def all(self) -> list[FetchPolicy]:
        return [policy for policies in self._by_domain.values() for policy in policies]

    def knows(self, domain: str) -> bool:
        return domain in self._by_domain

    def of(self, request: Request) -> FetchPolicy | None:
        """Return the policy of the source that the request or the spider names, else one of its domain."""
        policies = self._by_domain.get(domain_of(request))
        if not policies:
            return None
        spider = self._crawler.spider
        default = getattr(spider, "source_id", None) or getattr(spider, "source", None)
        source_id = request.meta.get("source_id") or default
        return next((policy for policy in policies if policy.source_id == source_id), policies[0])

    def note_crawl_delay(self, domain: str, seconds: float) -> None:
        """Hosts of one domain may have different delays: the longest applies to all."""
        self._crawl_delays[domain] = max(seconds, self._crawl_delays.get(domain, 0.0))
        self._limits.pop(domain, None)

    def limit(self, domain: str) -> Limit:
        limit = self._limits.get(domain)
        if limit is None:
            source_limits = [policy.rate_limit for policy in self._by_domain.get(domain, ())]
            delay = max(self._crawl_delays.get(domain, 0.0), self._scrapy_delay(domain))
            limit = effective_limit(source_limits, delay, **self._defaults)  # type: ignore[arg-type]
            if 0 < self._max_concurrent < limit.concurrent:
                limit = replace(limit, concurrent=self._max_concurrent)
            self._limits[domain] = limit
        return limit

    def _scrapy_delay(self, domain: str) -> float:
        """Return the delay of Scrapy's own settings, to be treated like a Crawl-delay.

        Scrapy itself would wait for it after the rate limiter, and miss the reserved moment.
        """
        return float(self._slots.get(domain, {}).get("delay", self._min_delay))
