"""Whether the product can be bought, from what machines are told and what people are shown."""

from __future__ import annotations

from pricewatch.parsing.pages.product_zone import Zone
from pricewatch.vocabulary import Availability


def choose_availability(told: set[Availability], zone: Zone) -> tuple[Availability, str]:
    """The state and its evidence; UNKNOWN where nothing says so or the two contradict each other."""
    metadata = _one_of(told)
    shown, phrase = shown_state(zone)
    if metadata is Availability.UNKNOWN:
        if shown is Availability.UNKNOWN and zone.buy_button and not phrase:
            return Availability.IN_STOCK, f"buy button {zone.buy_button!r}"
        return shown, phrase or "nothing on the page says so"
    if shown in (Availability.UNKNOWN, metadata):
        if metadata is Availability.OUT_OF_STOCK and zone.buy_button and shown is Availability.UNKNOWN:
            return (
                Availability.UNKNOWN,
                f"structured data says {metadata}, but there is a button {zone.buy_button!r}",
            )
        return (
            metadata,
            "structured data" if shown is Availability.UNKNOWN else f"structured data and page: {phrase}",
        )
    if shown is Availability.IN_STOCK and metadata is Availability.BACKORDER:
        return metadata, "structured data"
    if shown is Availability.BACKORDER and metadata is Availability.IN_STOCK:
        # Shops tell machines that it can be ordered, and people that it has to be waited for.
        return shown, f"page: {phrase} (structured data says {metadata})"
    if shown is Availability.IN_STOCK or zone.buy_button:
        return Availability.UNKNOWN, f"structured data says {metadata}, the page says {phrase}"
    return shown, f"page: {phrase} (structured data says {metadata})"


def _one_of(states: set[Availability]) -> Availability:
    """Of a product's variants one that can be bought is enough; being told nothing is not."""
    for state in (Availability.IN_STOCK, Availability.BACKORDER, Availability.OUT_OF_STOCK):
        if state in states:
            return state
    return Availability.UNKNOWN


def shown_state(zone: Zone) -> tuple[Availability, str]:
    """What the page itself says near its title, and in which words."""
    states: dict[Availability, str] = {}
    for state, words in zone.stock:
        states.setdefault(state, repr(words))
    if not states:
        return Availability.UNKNOWN, ""
    if len(states) == 1:
        return next(iter(states.items()))
    if set(states) == {Availability.IN_STOCK, Availability.BACKORDER}:
        return Availability.BACKORDER, states[Availability.BACKORDER]
    return Availability.UNKNOWN, " and ".join(states.values())
