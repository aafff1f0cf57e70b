"""The cards that an adapter reads from an overview page, and the fields that are missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pricewatch.console.extract_pages import SavedPage, UnreadablePage, as_response
from pricewatch.items import Card, Drop, ExtractFailure

if TYPE_CHECKING:
    from scrapy.http import TextResponse

    from pricewatch.adapters.base import Adapter, Overview
    from pricewatch.reading.page_reader import PageReader


@dataclass(slots=True)
class CardsRead:
    """The cards of a page: a row per valid card, notes about the others, and the next page."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    has_next: bool = False
    next_lines: list[str] = field(default_factory=list)
    total: int | None = None

    def card_lines(self) -> list[str]:
        """Format the cards for a terminal, one per line."""
        lines: list[str] = []
        for row in self.rows:
            price = f"{row['price']} {row['currency']}" if row["price"] else "no price"
            stock = row["availability"] or "no stock"
            lines.append(f"{row['id'] or '-':<14} {price:>16}  {stock:<14}  {row['title']}  {row['url']}")
        return lines

    def lines(self) -> list[str]:
        """Format the summary of the page for a terminal: the count, the next page, and what is missing."""
        total = f" of {self.total}" if self.total is not None else ""
        lines = [f"{len(self.rows)} cards{total}; has_next: {'yes' if self.has_next else 'no'}"]
        return [*lines, *self.next_lines, *(f"missing: {note}" for note in self.missing())]

    def missing(self) -> list[str]:
        if not self.rows:
            return ["valid cards: check the selector `card`"]
        notes: list[str] = []
        for name in ("price", "currency"):
            lacking = sum(row[name] is None for row in self.rows)
            if lacking and not (name == "currency" and lacking == sum(r["price"] is None for r in self.rows)):
                notes.append(f"{lacking} of {len(self.rows)} cards have no {name}")
        stock = Counter(row["availability"] for row in self.rows)
        if stock[None] == len(self.rows):
            notes.append("stock: no card has it; the product pages must have it")
        elif stock[None]:
            notes.append(f"stock: {stock[None]} of {len(self.rows)} cards do not have it")
        if stock["UNKNOWN"]:
            notes.append(f"stock: the text of {stock['UNKNOWN']} cards is not recognised; see `[words]`")
        ids = sum(row["id"] is not None for row in self.rows)
        if 0 < ids < len(self.rows):
            notes.append(f"{len(self.rows) - ids} of {len(self.rows)} cards have no id, but others do")
        if not self.has_next:
            notes.append("next page: if this is not the last page, check the selector `next`")
        return [*notes, *self.left_out]


def read_saved_cards(reader: PageReader, adapter: Adapter, page: SavedPage) -> CardsRead:
    """Read the cards of a saved overview page."""
    found = read_cards(reader, adapter, as_response(page, adapter.home))
    if isinstance(found, ExtractFailure):
        raise UnreadablePage(f"{page.name}: {found.reason}: {found.details}.")
    return found


def read_cards(reader: PageReader, adapter: Adapter, response: TextResponse) -> CardsRead | ExtractFailure:
    """Read the cards of an overview page, and leave out those that a run would drop."""
    from pricewatch.reading.page_calls import READ_OVERVIEW
    from pricewatch.rules.validation import validate_card

    overview = reader.read(READ_OVERVIEW, adapter, response)
    if isinstance(overview, ExtractFailure):
        return overview
    found = CardsRead(has_next=overview.has_next, total=overview.total)
    found.left_out = [f"{count} cards are left out: {why}" for why, count in overview.unreadable.items()]
    for card in overview.cards:
        # As on the card: validate_card removes stock texts that are not recognised.
        stock = card.availability
        checked = validate_card(card)
        if isinstance(checked, Drop):
            found.left_out.append(f"{card.url} is left out: {checked.reason}: {checked.details}")
        else:
            found.rows.append(_row(checked, stock))
    if overview.has_next:
        found.next_lines = _next_lines(adapter, response.url, overview)
    return found


def _row(card: Card, stock: str | None) -> dict[str, Any]:
    price = str(card.price.amount) if card.price else None
    return {
        "id": card.product_id,
        "url": card.url,
        "title": card.title,
        "price": price,
        "currency": card.currency,
        "availability": None if stock is None else str(stock),
    }


def _next_lines(adapter: Adapter, url: str, overview: Overview) -> list[str]:
    """Format the next URL of a run, and the URL of the page's link if it differs."""
    from pricewatch.adapters.base import MarketQuery
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    parts = urlsplit(url)
    base, start = f"{parts.scheme}://{parts.netloc}", urlunsplit(("", "", parts.path or "/", parts.query, ""))
    url_of_page_2 = adapter.overview_url(MarketQuery(base, start, adapter.max_page_size), 2)
    lines = [f"next URL: {url_of_page_2} (page 2 of a market that starts here)"]
    if overview.next_url:
        try:
            is_same = canonical_url(overview.next_url) == canonical_url(url_of_page_2)
        except InvalidUrl:
            is_same = False
        if not is_same:
            lines.append(f"          the page links to {overview.next_url}: check `pages`")
    return lines
