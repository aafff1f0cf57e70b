"""What an adapter finds on an overview page: card by card, and what is missing for a market."""

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


@dataclass(slots=True)
class CardsRead:
    """One row per card that a run would keep; what was left out, and why; and the page as a whole."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    has_next: bool = False
    next_lines: list[str] = field(default_factory=list)
    total: int | None = None

    def card_lines(self) -> list[str]:
        """The cards for people, one a line."""
        lines: list[str] = []
        for row in self.rows:
            price = f"{row['price']} {row['currency']}" if row["price"] else "no price"
            stock = row["availability"] or "stock not told"
            lines.append(f"{row['id'] or '-':<14} {price:>16}  {stock:<14}  {row['title']}  {row['url']}")
        return lines

    def lines(self) -> list[str]:
        """The page for people: what was found, where the next page is, and what is missing."""
        counted = f" of {self.total} in all" if self.total is not None else ""
        lines = [f"{len(self.rows)} cards{counted}; has_next: {'yes' if self.has_next else 'no'}"]
        return [*lines, *self.next_lines, *(f"missing: {sentence}" for sentence in self.missing())]

    def missing(self) -> list[str]:
        if not self.rows:
            return ["the page has no card that could be kept: is `card` right?"]
        found: list[str] = []
        for name in ("price", "currency"):
            lacking = sum(row[name] is None for row in self.rows)
            if lacking and not (name == "currency" and lacking == sum(r["price"] is None for r in self.rows)):
                found.append(f"{lacking} of {len(self.rows)} cards have no {name}")
        stock = Counter(row["availability"] for row in self.rows)
        if stock[None] == len(self.rows):
            found.append("stock: not told by cards; each product's own page has to tell it")
        elif stock[None]:
            found.append(f"stock: {stock[None]} of {len(self.rows)} cards do not tell it")
        if stock["UNKNOWN"]:
            found.append(f"stock: the words of {stock['UNKNOWN']} cards are not understood; see `[words]`")
        ids = sum(row["id"] is not None for row in self.rows)
        if 0 < ids < len(self.rows):
            found.append(f"{len(self.rows) - ids} of {len(self.rows)} cards have no id, though others do")
        if not self.has_next:
            found.append("a next page; unless this is the last one: is `next` right?")
        return [*found, *self.left_out]


def read_cards(adapter: Adapter, page: SavedPage) -> CardsRead:
    """The cards of a saved overview page."""
    found = cards_of(adapter, as_response(page, adapter.home))
    if isinstance(found, ExtractFailure):
        raise UnreadablePage(f"{page.name}: {found.reason}: {found.details}.")
    return found


def cards_of(adapter: Adapter, response: TextResponse) -> CardsRead | ExtractFailure:
    """The cards of an overview page, those left out that a run would drop."""
    from pricewatch.rules.validation import validate_card

    overview = adapter.read_overview(response)
    if isinstance(overview, ExtractFailure):
        return overview
    found = CardsRead(has_next=overview.has_next, total=overview.total)
    found.left_out = [f"{count} cards are left out: {why}" for why, count in overview.unreadable.items()]
    for card in overview.cards:
        # As the card says it: a run takes words that are not understood for silence.
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
    told = None if stock is None else str(stock)
    named = {"id": card.product_id, "url": card.url, "title": card.title}
    return named | {"price": price, "currency": card.currency, "availability": told}


def _next_lines(adapter: Adapter, url: str, overview: Overview) -> list[str]:
    """Where a run goes from here, and where the page's own link leads."""
    from pricewatch.adapters.base import MarketQuery
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    parts = urlsplit(url)
    base, start = f"{parts.scheme}://{parts.netloc}", urlunsplit(("", "", parts.path or "/", parts.query, ""))
    made = adapter.overview_url(MarketQuery(base, start, adapter.max_page_size), 2)
    lines = [f"next URL: {made} (as page 2 of a market that starts here)"]
    if overview.next_url:
        try:
            is_same = canonical_url(overview.next_url) == canonical_url(made)
        except InvalidUrl:
            is_same = False
        if not is_same:
            lines.append(
                f"          {overview.next_url} is where the page's own link leads: is `pages` right?"
            )
    return lines
