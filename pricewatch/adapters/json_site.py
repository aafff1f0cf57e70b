"""The base class of adapters that read JSON, either embedded in a page or requested by it."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.site_adapter import MAX_CARDS, SiteAdapter, SiteListing, beyond_limit
from pricewatch.items import Card

Path: TypeAlias = tuple[str | int, ...]


class JsonSiteAdapter(SiteAdapter):
    # All of these sites so far list adverts.
    price_shows_presence = False
    # Selector of the scripts with the JSON; the default is the data that the page requested in the browser.
    data_scripts: ClassVar[str] = "script[data-page-data]"
    # Paths of the rows of an overview page and of the total number of listings.
    rows_at: ClassVar[Path]
    total_at: ClassVar[Path]
    # Path of the token of the next page, or else of the page number and the page size.
    next_at: ClassVar[Path | None] = None
    number_at: ClassVar[Path] = ()
    size_at: ClassVar[Path] = ()

    def card_from(self, row: dict[str, Any], url: str) -> Card:
        """The card of one row."""
        raise NotImplementedError

    def listing_from(self, data: Any, url: str) -> SiteListing | None:
        """The listing of a product page; None if the data is not a listing."""
        raise NotImplementedError

    def cards_on(self, response: TextResponse) -> Overview | None:
        for data in page.json_data(response, self.data_scripts):
            rows = page.value_at(data, *self.rows_at)
            if isinstance(rows, list):
                cards = [
                    self.card_from(row if isinstance(row, dict) else {}, response.url)
                    for row in rows[:MAX_CARDS]
                ]
                total = page.integer_at(data, *self.total_at)
                return Overview(cards, self._has_next(data, rows), total, beyond_limit(rows))
        return None

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        found = (
            self.listing_from(data, response.url) for data in page.json_data(response, self.data_scripts)
        )
        return next((listing for listing in found if listing), None)

    def _has_next(self, data: Any, rows: list[Any]) -> bool:
        if self.next_at and page.value_at(data, *self.next_at) is not None:
            return bool(page.text_at(data, *self.next_at))
        number, size, total = (
            page.integer_at(data, *path) for path in (self.number_at, self.size_at, self.total_at)
        )
        # Without these numbers, the first empty page is the last one.
        return number * size < total if number and size and total is not None else bool(rows)
