"""Allow only http and https, and no private networks. Host names are checked when connecting."""

from __future__ import annotations

from functools import lru_cache
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request
from scrapy.utils.httpobj import urlparse_cached

from pricewatch.fetching.failures import FetchFailure, RefusedAddress, RefusedUrl
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.name_resolution import install_resolver, installed_policy
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.rules.access.addresses import PORTS, is_public, literal_address
from pricewatch.rules.proxy_config import all_proxies

# As in Scrapy's URLLENGTH_LIMIT. The rules of robots.txt are matched against every URL.
MAX_URL_LENGTH = 2083


class GuardMiddleware:
    """The first middleware for requests: a refused host is neither resolved nor connected to."""

    def __init__(self, crawler: Crawler):
        if not crawler.settings.getbool("GUARD_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._policies = per_crawl(crawler, FetchPolicies)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self) -> None:
        addresses = install_resolver(self._crawler)
        await self._policies.load()
        for policy in self._policies.all():
            # The operator configured this address: this host and port may be private.
            if is_private(policy.base_url):
                addresses.allowed.add(policy.base_url)
        for proxy in (*all_proxies(self._crawler.settings), *environment_proxies()):
            addresses.allowed.add(proxy)

    def process_request(self, request: Request) -> None:
        failure = refused(request)
        if failure is not None:
            self._crawler.stats.inc_value(f"pricewatch/guard/{failure.reason}")
            raise failure


def refused(request: Request) -> FetchFailure | None:
    """Return the failure of a request whose URL alone shows that it must not be sent."""
    if len(request.url) > MAX_URL_LENGTH:
        return RefusedUrl(f"the URL has more than {MAX_URL_LENGTH} characters")
    url = urlparse_cached(request)
    if url.scheme not in PORTS:
        return RefusedUrl(f"the scheme is {url.scheme or 'missing'}; it must be http or https")
    if "@" in url.netloc:
        return RefusedUrl("the URL contains credentials")
    host, address, port = _host_and_port(url.scheme, url.netloc)
    if not host:
        return RefusedUrl("the URL has no host")
    policy = installed_policy()
    if address is None or policy is None:
        return None
    why = policy.check(host, address, port)
    return None if why is None else RefusedAddress(why)


@lru_cache(maxsize=4096)
def _host_and_port(scheme: str, netloc: str) -> tuple[str | None, str | None, int]:
    """Return host, its IP address if the host is one, and port; cached per site."""
    url = urlsplit(f"{scheme}://{netloc}")
    try:
        host, port = url.hostname, url.port or PORTS[scheme]
    except ValueError:
        return None, None, 0
    address = literal_address(host) if host else None
    return host, None if address is None else str(address), port


def is_private(url: str) -> bool:
    host = urlparse_cached(Request(url)).hostname or ""
    address = literal_address(host)
    local_name = host == "localhost" or host.endswith(".localhost")
    return local_name if address is None else not is_public(address)


def environment_proxies() -> list[str]:
    """Return the proxies of HTTP_PROXY and HTTPS_PROXY; the operator set them, so they may be private."""
    return [url for url in getproxies().values() if url.startswith(("http://", "https://"))]
