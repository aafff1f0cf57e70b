"""Tells a captcha, a bot wall or a queue from the page that was asked for, whatever its status."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any, NoReturn, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response

from pricewatch.fetching.failures import BlockedPage
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.fetching.wanted_status import wants_status
from pricewatch.parsing.pages.block_notices import BLOCKING_STATUS, blocked_reason

# A page with more to read than this is no challenge; looking no further keeps the check cheap.
MANY_WORDS = 2_600
PIECE = 4_096
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,400})", re.IGNORECASE)
_TAG = re.compile(rb"<[^>]*>?\s*")
_HIDDEN = tuple(
    (f"<{name}".encode(), f"</{name}".encode())
    for name in ("head", "script", "style", "noscript", "template", "svg")
)
# What only a page about something for sale carries; no challenge does.
_FOR_SALE = (
    b'"Product"', b'"ProductGroup"', b'"Offer"', b'"AggregateOffer"', b"schema.org/Product",
    b"schema.org/Offer", b'itemprop="price', b"product:price:amount", b"__NEXT_DATA__",
)  # fmt: skip


class BlockedPageMiddleware:
    """Outside of the retries: what is still a refusal after them is one."""

    def __init__(self, crawler: Crawler):
        if not crawler.settings.getbool("BLOCKED_PAGES_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._proxies = per_crawl(crawler, ProxyPool)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Coroutine[Any, Any, NoReturn]:
        if request.method == "HEAD" or request.meta.get("robots_txt"):
            return response
        if response.status in BLOCKING_STATUS:
            if wants_status(self._crawler, request, response.status):
                return response
            return self._blocked(request, response, f"status {response.status}")
        if isinstance(response, HtmlResponse) and 200 <= response.status < 300:
            why = why_blocked(response)
            if why is not None:
                return self._blocked(request, response, why)
        return response

    async def _blocked(self, request: Request, response: Response, why: str) -> NoReturn:
        self._crawler.stats.inc_value("pricewatch/blocked/pages")
        self._crawler.stats.inc_value(f"pricewatch/blocked/status/{response.status}")
        if response.status < 400:
            # Refusals by status are held against the proxy as they come in.
            await self._proxies.failed(request, f"blocked page: {why}")
        raise BlockedPage(why, response)


def why_blocked(response: HtmlResponse) -> str | None:
    """Why a page with a good status is not the one asked for, or None where it may well be."""
    body = response.body
    if any(mark in body for mark in _FOR_SALE):
        return None
    found = _TITLE.search(body)
    title = found.group(1).decode(response.encoding, "replace") if found else ""
    text = few_words(body)
    if text is None:
        # Much to read: only its title can still give it away.
        return blocked_reason(title, "x" * MANY_WORDS, "")
    return blocked_reason(title, text.decode(response.encoding, "replace"), response.text)


def few_words(body: bytes) -> bytes | None:
    """What the page shows, if that is little; None as soon as it is much."""
    shown = _without_hidden(body)
    pieces: list[bytes] = []
    length = 0
    for begins in range(0, len(shown), PIECE):
        # A tag that a piece cuts in two adds a few letters; that does no harm.
        words = b" ".join(_TAG.sub(b" ", shown[begins : begins + PIECE]).split())
        pieces.append(words)
        length += len(words)
        if length > MANY_WORDS:
            return None
    return b" ".join(pieces)


def _without_hidden(body: bytes) -> bytes:
    lower = body.lower()
    for opening, closing in _HIDDEN:
        if opening not in lower:
            continue
        kept: list[bytes] = []
        end = 0
        while (begins := lower.find(opening, end)) >= 0:
            # <header> is not <head>.
            follows = lower[begins + len(opening) : begins + len(opening) + 1]
            if follows.isalnum():
                kept.append(body[end : begins + len(opening)])
                end = begins + len(opening)
                continue
            kept.append(body[end:begins])
            ends = lower.find(closing, begins)
            end = len(body) if ends < 0 else ends + len(closing)
        body = b" ".join((*kept, body[end:]))
        lower = body.lower()
    return body
