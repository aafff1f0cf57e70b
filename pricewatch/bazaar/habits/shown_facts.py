"""What was visible of a listing, and when: a crawler may have stored nothing else."""

from dataclasses import dataclass
from typing import Any

from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.presentation import READABLE
from pricewatch.bazaar.sample_listing import (
    GONE,
    OUT_OF_STOCK,
    PRICE_HIDDEN,
    SOLD,
    UNLISTED,
    SampleListing,
    latest,
)


@dataclass(frozen=True, slots=True)
class ShownFacts:
    """What card and page show at a time; a price counts only where it is unambiguous.

    Stock is `in`, `out`, `backorder`, `preorder`, `unknown` or `sold`; None where none is shown.
    """

    listed: bool = False
    card_price: bool = False
    page_price: bool = False
    card_stock: str | None = None
    page_stock: str | None = None
    currency: str | None = None


NOTHING = ShownFacts()


def shown_facts(
    habits: Habits, listing: SampleListing, now: float, category: str | None
) -> list[tuple[int, ShownFacts]]:
    """Return what was shown of a listing and since when; in the list of `category`, if given."""
    begins = listing.listed_at
    edges = {begins, *(span.begins for span in listing.spans if span.begins <= now)}
    edges |= {edge for edge in habits.boundaries(now) if edge > begins}
    periods: list[tuple[int, ShownFacts]] = []
    for edge in sorted(edges):
        facts = shown_at(habits, listing, edge, category)
        if not periods or periods[-1][1] != facts:
            periods.append((edge, facts))
    return periods


def shown_at(habits: Habits, listing: SampleListing, at: int, category: str | None) -> ShownFacts:
    """Return what was shown of a listing at one time."""
    span, presentation = latest(listing.spans, at), habits.presentation(listing, at)
    if span.state == GONE or habits.is_under_maintenance(listing.category.name, at):
        return NOTHING
    is_own_category = category in (None, listing.category.name)
    listed = span.state not in (SOLD, UNLISTED) and (
        is_own_category or habits.is_cross_listed(listing, category or "", at)
    )
    stock = {SOLD: "sold", OUT_OF_STOCK: "out"}.get(span.state, presentation.stock)
    price_shown = not (span.state == OUT_OF_STOCK and span.mode == PRICE_HIDDEN)
    return ShownFacts(
        listed=listed,
        card_price=listed and price_shown and presentation.card_price in READABLE,
        page_price=price_shown and presentation.page_price in READABLE,
        card_stock=stock if listed and presentation.card_stock else None,
        page_stock=stock,
        currency=presentation.currency or listing.currency,
    )


def as_json(periods: list[tuple[int, ShownFacts]], iso: Any) -> list[list[Any]]:
    """Return the periods as the control interface shows them: begin, end, and facts."""
    ends = [iso(begins) for begins, _ in periods[1:]] + [None]
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
        for (begins, each), end in zip(periods, ends, strict=True)
    ]
