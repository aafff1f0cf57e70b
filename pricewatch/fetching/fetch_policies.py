"""What the sources say about how they may be fetched: read once per run, asked for every request."""

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
from pricewatch.rules.request_budget import Limit, limit_of
from pricewatch.store.fetch_state.source_policies import FetchPolicy, load_policies


class FetchPolicies:
    """Sources by their registrable domain, and the Crawl-delays that robots.txt files brought."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._crawler = crawler
        self._defaults = {
            "requests_per_second": settings.getfloat("REQUESTS_PER_SECOND"),
            "min_delay": settings.getint("MIN_DELAY_MS") / 1000,
            "max_concurrent": settings.getint("MAX_CONCURRENT"),
        }
        self._least_delay = settings.getfloat("DOWNLOAD_DELAY")
        self._slots = settings.getdict("DOWNLOAD_SLOTS")
        self._most_concurrent = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._by_domain: dict[str, list[FetchPolicy]] = {}
        self._crawl_delays: dict[str, float] = {}
        self._limits: dict[str, Limit] = {}
        self._loading: asyncio.Future[None] | None = None
        crawler.signals.connect(self.load, signals.spider_opened)

    async def load(self) -> None:
        """Read the sources, once however often it is asked for."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load())
        await asyncio.shield(self._loading)

    async def _load(self) -> None:
        for policy in await per_crawl(self._crawler, DatabaseThread).ask(load_policies):
            self.add(policy)

    def add(self, policy: FetchPolicy) -> None:
        # An address or localhost is shared by all shops of that machine: only host and port name this one.
        for place in (
            {policy.base_url} if is_unregistered_host(policy.domain) else {policy.domain, policy.base_url}
        ):
            try:
                domain = site_of(place)
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
        """The policy of a request's source: the one that the request or the spider names, else by domain."""
        policies = self._by_domain.get(domain_of(request))
        if not policies:
            return None
        spider = self._crawler.spider
        own = getattr(spider, "source_id", None) or getattr(spider, "source", None)
        wanted = request.meta.get("source_id") or own
        return next((policy for policy in policies if policy.source_id == wanted), policies[0])

    def note_crawl_delay(self, domain: str, seconds: float) -> None:
        """Hosts of one domain may ask for different delays: the longest holds for all."""
        self._crawl_delays[domain] = max(seconds, self._crawl_delays.get(domain, 0.0))
        self._limits.pop(domain, None)

    def limit(self, domain: str) -> Limit:
        limit = self._limits.get(domain)
        if limit is None:
            wishes = [policy.rate_limit for policy in self._by_domain.get(domain, ())]
            delay = max(self._crawl_delays.get(domain, 0.0), self._own_delay(domain))
            limit = limit_of(wishes, delay, **self._defaults)  # type: ignore[arg-type]
            if 0 < self._most_concurrent < limit.concurrent:
                limit = replace(limit, concurrent=self._most_concurrent)
            self._limits[domain] = limit
        return limit

    def _own_delay(self, domain: str) -> float:
        """What a project or spider asks of itself, by Scrapy's settings; it counts like a Crawl-delay.

        Scrapy would wait for it after the turn has come, and miss the turn.
        """
        return float(self._slots.get(domain, {}).get("delay", self._least_delay))
