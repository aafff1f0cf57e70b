"""Choose the availability from structured data and the displayed page."""

from __future__ import annotations

from pricewatch.parsing.pages.product_zone import Zone
from pricewatch.vocabulary import Availability


def choose_availability(structured: set[Availability], zone: Zone) -> tuple[Availability, str]:
    """The availability and its evidence; UNKNOWN if it is not stated or contradictory."""
    metadata = _best_of(structured)
    displayed, phrase = displayed_availability(zone)
    if metadata is Availability.UNKNOWN:
        if displayed is Availability.UNKNOWN and zone.buy_button and not phrase:
            return Availability.IN_STOCK, f"buy button {zone.buy_button!r}"
        return displayed, phrase or "not stated on the page"
    if displayed in (Availability.UNKNOWN, metadata):
        if metadata is Availability.OUT_OF_STOCK and zone.buy_button and displayed is Availability.UNKNOWN:
            return (
                Availability.UNKNOWN,
                f"structured data says {metadata}, but there is a button {zone.buy_button!r}",
            )
        return (
            metadata,
            "structured data" if displayed is Availability.UNKNOWN else f"structured data and page: {phrase}",
        )
    if displayed is Availability.IN_STOCK and metadata is Availability.BACKORDER:
        return metadata, "structured data"
    if displayed is Availability.BACKORDER and metadata is Availability.IN_STOCK:
        # Shops declare a product with later delivery as in stock in structured data.
        return displayed, f"page: {phrase} (structured data says {metadata})"
    if displayed is Availability.IN_STOCK or zone.buy_button:
        return Availability.UNKNOWN, f"structured data says {metadata}, the page says {phrase}"
    return displayed, f"page: {phrase} (structured data says {metadata})"


def _best_of(states: set[Availability]) -> Availability:
    """The best state of the variants of a product."""
    for state in (Availability.IN_STOCK, Availability.BACKORDER, Availability.OUT_OF_STOCK):
        if state in states:
            return state
    return Availability.UNKNOWN


def displayed_availability(zone: Zone) -> tuple[Availability, str]:
    """The availability that the page displays near its title, and the phrase."""
    states: dict[Availability, str] = {}
    for state, phrase in zone.stock:
        states.setdefault(state, repr(phrase))
    if not states:
        return Availability.UNKNOWN, ""
    if len(states) == 1:
        return next(iter(states.items()))
    if set(states) == {Availability.IN_STOCK, Availability.BACKORDER}:
        return Availability.BACKORDER, states[Availability.BACKORDER]
    return Availability.UNKNOWN, " and ".join(states.values())
