"""Send the headers of a current browser, the same one per domain and run, or pricewatch's own user agent."""

from __future__ import annotations

import random
import re
import secrets
from functools import cache
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers, Request

from pricewatch.fetching.downloader import domain_of
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl

# Platforms and browsers, weighted roughly by their market share.
AGENTS = (
    (("windows", "chrome"), 50),
    (("windows", "edge"), 12),
    (("windows", "firefox"), 8),
    (("macos", "chrome"), 18),
    (("linux", "chrome"), 8),
    (("linux", "firefox"), 4),
)
ACCEPT = {
    "chrome": "text/html,application/xhtml+xml,application/xml;q=0.9,"
    "image/avif,image/webp,image/apng,*/*;q=0.8",
    "firefox": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
}
NAVIGATION = {
    "Upgrade-Insecure-Requests": "1",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-User": "?1",
}


class UserAgentsMiddleware:
    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        if not settings.getbool("USER_AGENTS_ENABLED"):
            raise NotConfigured
        self._honest: str | None = settings["USER_AGENT"] if settings.getbool("HONEST_USER_AGENT") else None
        # A new browser in every run, unless a seed is set.
        self._seed = str(settings.get("USER_AGENT_SEED") or secrets.token_hex(8))
        self._language: str = settings["ACCEPT_LANGUAGE"]
        self._policies = per_crawl(crawler, FetchPolicies)
        self._stats = crawler.stats
        self._headers_by_domain: dict[str, dict[bytes, list[bytes]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        domain = domain_of(request)
        headers = self._headers_by_domain.get(domain)
        if headers is None:
            normalized = Headers(self._headers(domain))
            headers = self._headers_by_domain[domain] = {
                name: normalized.getlist(name) for name in normalized
            }
            self._stats.inc_value(f"pricewatch/user_agents/{'honest' if self._honest else 'rotated'}")
        policy = self._policies.of(request)
        if request.meta.get("playwright"):
            # A browser sends its own headers; only its user agent can be set.
            if self._honest:
                request.meta["browser_user_agent"] = self._honest
            return
        for name, values in headers.items():
            # Already normalized: setting them through Headers would normalize them for every request.
            dict.setdefault(request.headers, name, [*values])
        if policy is not None and policy.headers:
            request.headers.update(policy.headers)
        if self._honest:
            request.headers["User-Agent"] = self._honest

    def _headers(self, domain: str) -> dict[str, str]:
        if self._honest:
            return {"User-Agent": self._honest, "Accept-Language": self._language}
        return {**browser_headers(f"{self._seed}/{domain}"), "Accept-Language": self._language}


@cache
def browser_headers(seed: str) -> dict[str, str]:
    """Return the headers of one current browser, chosen by the seed alone."""
    import ua_generator
    from ua_generator.data.version import VersionRange
    from ua_generator.options import Options

    options = Options(
        latest_versions={"chrome": 3, "edge": 3, "firefox": 3},
        version_ranges={"windows": VersionRange(10, 10)},
    )
    # ua_generator uses the global random generator, so its state is restored afterwards.
    state = random.getstate()
    random.seed(seed)
    try:
        kinds, weights = zip(*AGENTS, strict=True)
        platform, browser = random.choices(kinds, weights)[0]
        agent = ua_generator.generate(platform=platform, browser=browser, options=options)
        while "WOW64" in agent.text:
            agent = ua_generator.generate(platform=platform, browser=browser, options=options)
    finally:
        random.setstate(state)
    headers = dict(agent.headers.get())
    # As browsers do: Firefox sends two version numbers, and all of them the same old macOS version.
    text = re.sub(r"(rv:|Firefox/)(\d+)\.0\.0\b", r"\1\2.0", headers["user-agent"])
    headers["user-agent"] = re.sub(r"Mac OS X [\d_]+", "Mac OS X 10_15_7", text)
    return {**headers, "accept": ACCEPT["firefox" if browser == "firefox" else "chrome"], **NAVIGATION}
