"""What could be read of a listing, and when: the most that anybody may have stored of it."""

from dataclasses import dataclass
from typing import Any

from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.listing import GONE, OUT_OF_STOCK, PRICE_HIDDEN, SOLD, UNLISTED, Listing, latest
from pricewatch.bazaar.look import READABLE


@dataclass(frozen=True, slots=True)
class Shown:
    """What card and page say for a stretch of time; a price is told only where no reader can get it wrong.

    Stock is a word (`in`, `out`, `backorder`, `preorder`, `unknown`, `sold`), or None where nothing is said.
    """

    listed: bool = False
    card_price: bool = False
    page_price: bool = False
    card_stock: str | None = None
    page_stock: str | None = None
    currency: str | None = None


NOTHING = Shown()


def shown(habits: Habits, listing: Listing, now: float, category: str | None) -> list[tuple[int, Shown]]:
    """Return what was shown of a listing, and from when on; by a category's list, if one is given."""
    begins = listing.listed_at
    edges = {begins, *(span.begins for span in listing.spans if span.begins <= now)}
    edges |= {edge for edge in habits.boundaries(now) if edge > begins}
    told: list[tuple[int, Shown]] = []
    for edge in sorted(edges):
        there = shown_at(habits, listing, edge, category)
        if not told or told[-1][1] != there:
            told.append((edge, there))
    return told


def shown_at(habits: Habits, listing: Listing, at: int, category: str | None) -> Shown:
    """Return what was shown of it at one instant."""
    span, look = latest(listing.spans, at), habits.look(listing, at)
    if span.state == GONE or habits.is_away(listing.category.name, at):
        return NOTHING
    home = category in (None, listing.category.name)
    listed = span.state not in (SOLD, UNLISTED) and (home or habits.is_guest(listing, category or "", at))
    stock = {SOLD: "sold", OUT_OF_STOCK: "out"}.get(span.state, look.stock)
    told = not (span.state == OUT_OF_STOCK and span.mode == PRICE_HIDDEN)
    return Shown(
        listed=listed,
        card_price=listed and told and look.card_price in READABLE,
        page_price=told and look.page_price in READABLE,
        card_stock=stock if listed and look.card_stock else None,
        page_stock=stock,
        currency=look.currency or listing.currency,
    )


def as_json(told: list[tuple[int, Shown]], iso: Any) -> list[list[Any]]:
    """Return the same as the control interface tells it: from when, until when, and what."""
    ends = [iso(begins) for begins, _ in told[1:]] + [None]
    return [
        [
            iso(begins),
            end,
            each.listed,
            each.card_price,
            each.page_price,
            each.card_stock,
            each.page_stock,
            each.currency,
        ]
        for (begins, each), end in zip(told, ends, strict=True)
    ]
