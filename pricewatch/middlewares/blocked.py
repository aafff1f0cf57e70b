"""Tells a captcha, a bot wall or a queue from the page that was asked for, whatever its status."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any, NoReturn, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response

from pricewatch.middlewares.failures import BlockedPage
from pricewatch.middlewares.proxies import ProxyPool
from pricewatch.middlewares.shared import shared
from pricewatch.parsing.blocked import BLOCKING_STATUS, blocked_reason

# A page with more to read than this is no challenge; looking no further keeps the check cheap.
MANY_WORDS = 2_600
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,400})", re.IGNORECASE)
_HIDDEN = rb"<(script|style|noscript|template|svg|head)\b.*?</\1\s*>"
_PIECE = re.compile(_HIDDEN + rb"|<!--.*?-->|<[^>]*>|([^<]+)", re.IGNORECASE | re.DOTALL)
_PRODUCT = re.compile(
    rb'"@type"\s*:\s*(?:\[\s*)?"(?:\w+:)?(?:Product|ProductGroup|Offer|AggregateOffer)"|itemprop=["\']?price\b|'
    rb"schema\.org/(?:Product|Offer)\b|product:price:amount|__NEXT_DATA__",
    re.IGNORECASE,
)


class BlockedPageMiddleware:
    """Outside of the retries: what is still a refusal after them is one."""

    def __init__(self, crawler: Crawler):
        if not crawler.settings.getbool("BLOCKED_PAGES_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._proxies = shared(crawler, ProxyPool)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Coroutine[Any, Any, NoReturn]:
        if request.method == "HEAD" or request.meta.get("robots_txt"):
            return response
        if response.status in BLOCKING_STATUS:
            if self._wanted(request, response.status):
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

    def _wanted(self, request: Request, status: int) -> bool:
        listed = (
            *getattr(self._crawler.spider, "handle_httpstatus_list", ()),
            *request.meta.get("handle_httpstatus_list", ()),
        )
        return bool(request.meta.get("handle_httpstatus_all")) or status in listed


def why_blocked(response: HtmlResponse) -> str | None:
    """Why a page with a good status is not the one asked for, or None where it may well be."""
    body = response.body
    found = _TITLE.search(body)
    title = found.group(1).decode(response.encoding, "replace") if found else ""
    text = few_words(body)
    if text is None and blocked_reason(title, "", "") is None:
        return None
    return blocked_reason(
        title,
        "x" * MANY_WORDS if text is None else text.decode(response.encoding, "replace"),
        response.text,
        has_product_evidence=_PRODUCT.search(body) is not None,
    )


def few_words(body: bytes) -> bytes | None:
    """What the page shows, if that is little; None as soon as it is much."""
    pieces: list[bytes] = []
    length = 0
    for match in _PIECE.finditer(body):
        piece = match.group(2)
        if piece and not piece.isspace():
            pieces.append(piece)
            length += len(piece)
            if length > MANY_WORDS:
                return None
    return b" ".join(pieces)
