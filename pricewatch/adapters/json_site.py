"""The base of adapters for sites whose pages carry their content as JSON, or ask for it."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.site_adapter import SiteAdapter, SiteListing
from pricewatch.items import Card

Path: TypeAlias = tuple[str | int, ...]


class JsonSiteAdapter(SiteAdapter):
    # So far all of these are sites of adverts.
    price_shows_presence = False
    # The scripts that hold the JSON: without other word, what the page asked for while a browser loaded it.
    data_scripts: ClassVar[str] = "script[data-page-data]"
    # Where an overview page has its rows, and how many there are on all pages.
    rows_at: ClassVar[Path]
    total_at: ClassVar[Path]
    # What names the next page, or else this page's number and how many rows fill one.
    next_at: ClassVar[Path | None] = None
    number_at: ClassVar[Path] = ()
    size_at: ClassVar[Path] = ()

    def card_from(self, row: dict[str, Any], url: str) -> Card:
        """The card of one row."""
        raise NotImplementedError

    def listing_from(self, data: Any, url: str) -> SiteListing | None:
        """The listing of a product page; None where this data is about something else."""
        raise NotImplementedError

    def cards_on(self, response: TextResponse) -> Overview | None:
        for data in page.data_of(response, self.data_scripts):
            rows = page.at(data, *self.rows_at)
            if isinstance(rows, list):
                cards = [self.card_from(row if isinstance(row, dict) else {}, response.url) for row in rows]
                return Overview(cards, self._has_next(data, rows), page.count_at(data, *self.total_at))
        return None

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        found = (self.listing_from(data, response.url) for data in page.data_of(response, self.data_scripts))
        return next((listing for listing in found if listing), None)

    def _has_next(self, data: Any, rows: list[Any]) -> bool:
        if self.next_at and page.at(data, *self.next_at) is not None:
            return bool(page.text_at(data, *self.next_at))
        number, size, total = (
            page.count_at(data, *path) for path in (self.number_at, self.size_at, self.total_at)
        )
        # Without the numbers, the first page that shows nothing is the end.
        return number * size < total if number and size and total is not None else bool(rows)
