"""The proxies of a crawl, and which of them any process has blocked for a domain."""

from __future__ import annotations

import logging
import re
import time
from datetime import datetime, timedelta
from itertools import count

from scrapy.crawler import Crawler
from scrapy.http import Request

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.failures import NoProxy
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.rules.proxy_config import STRATEGIES, Proxy, parse_proxies
from pricewatch.store.fetch_state import proxy_blocks
from pricewatch.store.fetch_state.source_policies import FetchPolicy

logger = logging.getLogger(__name__)
# The age after which the blocks of a domain are read from the database again.
FRESH_SECONDS = 2.0


class ProxyPool:
    """Blocks are stored in the database; this process caches them for FRESH_SECONDS."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        self._pools = {kind: parse_proxies(settings.get(name) or ()) for kind, name in STRATEGIES.items()}
        self._database = per_crawl(crawler, DatabaseThread)
        self._policies = per_crawl(crawler, FetchPolicies)
        self._stats = crawler.stats
        self._counter = count()
        self._blocks: dict[str, dict[str, datetime]] = {}
        self._read_at: dict[str, float] = {}

    def by_name(self, name: str) -> Proxy | None:
        return next((proxy for pool in self._pools.values() for proxy in pool if proxy.name == name), None)

    def pool(self, policy: FetchPolicy) -> list[Proxy]:
        pool = self._pools[policy.proxy_strategy]
        if not pool:
            setting = STRATEGIES[policy.proxy_strategy]
            raise NoProxy(f"{policy.source_id} requires {policy.proxy_strategy} proxies: set {setting}")
        return pool

    def is_fresh(self, policy: FetchPolicy, domain: str) -> bool:
        if policy.proxy_strategy != "datacenter":
            return True
        return time.monotonic() - self._read_at.get(domain, -FRESH_SECONDS) < FRESH_SECONDS

    async def refresh(self, domain: str) -> None:
        now = clock.now()
        try:
            blocks = await self._database.query(
                lambda connection: proxy_blocks.blocked(connection, domain, now)
            )
        except DatabaseUnavailable as error:
            raise NoProxy(f"the blocked proxies cannot be read: {error}") from error
        self._blocks[domain] = blocks
        self._read_at[domain] = time.monotonic()

    def free(self, policy: FetchPolicy, domain: str) -> list[Proxy]:
        """Return the proxies that are not blocked; residential ones rotate by themselves and never are."""
        pool = self.pool(policy)
        if policy.proxy_strategy != "datacenter":
            return pool
        blocks, now = self._blocks.get(domain, {}), clock.now()
        return [proxy for proxy in pool if proxy.name not in blocks or blocks[proxy.name] <= now]

    def free_again(self, policy: FetchPolicy, domain: str) -> datetime:
        """Return when the first block ends; all proxies must be blocked."""
        blocks = self._blocks[domain]
        return min(blocks[proxy.name] for proxy in self.pool(policy))

    def choose(self, free: list[Proxy], tried: list[str]) -> Proxy:
        """Return the next proxy, if possible one that has not failed for this request."""
        candidates = [proxy for proxy in free if proxy.name not in tried] or free
        return candidates[next(self._counter) % len(candidates)]

    async def failed(self, request: Request, error: str) -> None:
        """Count a failure of the request's proxy; block a datacenter proxy for this domain for a while."""
        policy, name = self._policies.of(request), request.meta.get("proxy_name")
        if policy is None or name is None:
            return
        request.meta["proxies_tried"] = [*request.meta.get("proxies_tried", ()), name]
        self._stats.inc_value("pricewatch/proxies/failed")
        self._stats.inc_value(f"pricewatch/proxies/failed/{name}")
        if policy.proxy_strategy != "datacenter":
            return
        domain, now, why = domain_of(request), clock.now(), without_credentials(error)
        until = now + timedelta(minutes=policy.cooldown_minutes)
        self._blocks.setdefault(domain, {})[name] = until
        self._stats.inc_value("pricewatch/proxies/blocked")
        logger.warning("Proxy %s is not used for %s until %s: %s", name, domain, f"{until:%H:%M} UTC", why)
        await self._database.query(
            lambda connection: proxy_blocks.block(connection, domain, name, error=why, now=now, until=until)
        )


def without_credentials(text: str) -> str:
    """Return the text without the credentials in its URLs."""
    return re.sub(r"//[^/@\s]+@", "//…@", text)
