"""Which pages of a run are rendered in the browser, and the outcome of pages that were tried twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scrapy.http import Response

from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import MAY_NEED_BROWSER
from pricewatch.items import ExtractFailure, ProductPage
from pricewatch.queued_work import SourceHints
from pricewatch.rules.rendering import chosen, is_rendered
from pricewatch.runs.requested_page import PageContext, PlainPage, leads_elsewhere
from pricewatch.vocabulary import FailureReason, Render


def browser_meta(adapter: Adapter) -> dict[str, Any]:
    """Return the request meta for fetching a page with the browser."""
    return {"playwright": True, "page_data": adapter.page_data}


def page_meta(adapter: Adapter, hints: SourceHints, render: str | None = None) -> dict[str, Any]:
    """Return the request meta for fetching a page: with the browser or without."""
    return browser_meta(adapter) if is_rendered(render, hints, requires_js=adapter.requires_js) else {}


class PageRendering:
    """What a run knows about the browser: whether there is one, and which sources need it."""

    def __init__(self) -> None:
        self._needs_browser: set[str] = set()
        self._is_browser_missing = False

    def meta(self, subject: PageContext) -> dict[str, Any]:
        """Return the request meta for a product page, with what this run has learned."""
        if subject.plain is not None:
            return browser_meta(subject.adapter)
        needs_browser = subject.hints.needs_browser or subject.source_id in self._needs_browser
        hints = replace(subject.hints, needs_browser=needs_browser)
        return page_meta(subject.adapter, hints, subject.render)

    def try_browser(
        self, response: Response, subject: PageContext, read: ProductPage | ExtractFailure
    ) -> PageContext | None:
        """Return the context of a second request, if the page may show its price only in the browser."""
        if subject.plain is not None or response.meta.get("playwright") or self._is_browser_missing:
            return None
        is_auto = chosen(subject.render, subject.hints) is Render.AUTO
        if not is_auto or not _may_need_browser(read) or leads_elsewhere(response):
            return None
        return replace(subject, plain=PlainPage(response, read))

    def outcome(
        self, response: Response, subject: PageContext, read: ProductPage | ExtractFailure
    ) -> tuple[Response, ProductPage | ExtractFailure]:
        """Return the page that counts: the one of the browser if it shows more than the one without."""
        if subject.plain is None:
            return response, read
        if isinstance(read, ExtractFailure) and read.reason is not FailureReason.OOS_NO_PRICE:
            return subject.plain.response, subject.plain.read
        if isinstance(read, ProductPage) and read.quarantine is None:
            read.needed_browser = True
            self._needs_browser.add(subject.source_id)
        return response, read

    def set_browser_missing(self) -> None:
        """Try no more pages in the browser: this machine has none."""
        self._is_browser_missing = True


def _may_need_browser(read: ProductPage | ExtractFailure) -> bool:
    if isinstance(read, ExtractFailure):
        return read.may_need_browser
    return read.quarantine is not None and MAY_NEED_BROWSER in read.quarantine.details
