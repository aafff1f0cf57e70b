"""Detect captchas, bot checks and waiting rooms in place of the requested page, whatever their status."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any, NoReturn, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response

from pricewatch.fetching.failures import BlockedPage
from pricewatch.fetching.handled_status import handles_status
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.proxy_pool import ProxyPool
from pricewatch.parsing.pages.block_notices import BLOCKING_STATUS, blocked_reason

# Bytes of visible text; a challenge page has less, so the check of a page stops there.
MAX_CHALLENGE_TEXT = 2_600
# Block pages may have long scripts, but this limits the time and memory to look at a page.
MAX_CHALLENGE_BYTES = 1_000_000
CHUNK = 4_096
_TITLE = re.compile(rb"<title[^<>]*+>([^<]{0,400})", re.IGNORECASE)
_TAG = re.compile(rb"<[^>]*>?\s*")
_HIDDEN = tuple(
    (f"<{name}".encode(), f"</{name}".encode())
    for name in ("head", "script", "style", "noscript", "template", "svg")
)
# Markup of product pages, which no challenge page has.
_PRODUCT_MARKUP = (
    b'"Product"', b'"ProductGroup"', b'"Offer"', b'"AggregateOffer"', b"schema.org/Product",
    b"schema.org/Offer", b'itemprop="price', b"product:price:amount", b"__NEXT_DATA__",
)  # fmt: skip


class BlockedPageMiddleware:
    """Outside the retry middleware: a page counts as blocked only after all retries."""

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
            if handles_status(self._crawler, request, response.status):
                return response
            return self._blocked(request, response, f"status {response.status}")
        if isinstance(response, HtmlResponse) and 200 <= response.status < 300:
            why = _blocked_reason_in(response)
            if why is not None:
                return self._blocked(request, response, why)
        return response

    async def _blocked(self, request: Request, response: Response, why: str) -> NoReturn:
        self._crawler.stats.inc_value("pricewatch/blocked/pages")
        self._crawler.stats.inc_value(f"pricewatch/blocked/status/{response.status}")
        if response.status < 400:
            # For refusals by status, ProxiesMiddleware has already reported the proxy.
            await self._proxies.failed(request, f"blocked page: {why}")
        raise BlockedPage(why, response)


def _blocked_reason_in(response: HtmlResponse) -> str | None:
    """Return why a page with a successful status is a block page, or None."""
    body = response.body
    if any(markup in body for markup in _PRODUCT_MARKUP):
        return None
    found = _TITLE.search(body)
    title = found.group(1).decode(response.encoding, "replace") if found else ""
    text = _short_text(body) if len(body) <= MAX_CHALLENGE_BYTES else None
    if text is None:
        # A long page can only be recognised by its title.
        return blocked_reason(title, "x" * MAX_CHALLENGE_TEXT, "")
    return blocked_reason(title, text.decode(response.encoding, "replace"), response.text)


def _short_text(body: bytes) -> bytes | None:
    """Return the visible text of a page, or None if it is longer than MAX_CHALLENGE_TEXT."""
    visible = _without_hidden(body)
    chunks: list[bytes] = []
    length = 0
    for start in range(0, len(visible), CHUNK):
        # A tag that is split between two chunks adds a few letters, which does not matter.
        text = b" ".join(_TAG.sub(b" ", visible[start : start + CHUNK]).split())
        chunks.append(text)
        length += len(text)
        if length > MAX_CHALLENGE_TEXT:
            return None
    return b" ".join(chunks)


def _without_hidden(body: bytes) -> bytes:
    lower = body.lower()
    for opening, closing in _HIDDEN:
        if opening not in lower:
            continue
        visible: list[bytes] = []
        end = 0
        while (start := lower.find(opening, end)) >= 0:
            # <header> is not <head>.
            follows = lower[start + len(opening) : start + len(opening) + 1]
            if follows.isalnum():
                visible.append(body[end : start + len(opening)])
                end = start + len(opening)
                continue
            visible.append(body[end:start])
            closed = lower.find(closing, start)
            end = len(body) if closed < 0 else closed + len(closing)
        body = b" ".join((*visible, body[end:]))
        lower = body.lower()
    return body
