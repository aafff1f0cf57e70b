"""Watch rules: whether a change of a listing triggers a notification."""

from __future__ import annotations

from dataclasses import dataclass

from pricewatch.money import Money
from pricewatch.vocabulary import Availability

KINDS = ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone")
BUYABLE = frozenset({Availability.IN_STOCK, Availability.BACKORDER})
# A LISTED listing is for sale at its price, although its stock is not known yet.
FOR_SALE = BUYABLE | {Availability.LISTED}


@dataclass(frozen=True, slots=True)
class ListingState:
    """The price and availability of a listing at one time."""

    price: Money | None
    availability: str


@dataclass(frozen=True, slots=True)
class WatchDecision:
    fires: bool
    # The price that the next change is compared with, for rules about price changes.
    reference: Money | None


def evaluate_rule(
    kind: str,
    before: ListingState,
    after: ListingState,
    reference: Money | None,
    *,
    threshold: Money | None = None,
    percent: float | None = None,
) -> WatchDecision:
    """Fire on the change that makes the condition true, and not again while it stays true."""
    if after.price is None:
        return WatchDecision(False, reference)
    if kind == "price_at_or_below":
        return WatchDecision(_is_at(after, threshold) and not _is_at(before, threshold), None)
    if kind in ("fell_by", "rose_by"):
        return _moved(kind, after.price, reference or before.price, percent or 0)
    if kind == "back_in_stock":
        was_out = before.availability in (Availability.OUT_OF_STOCK, Availability.SOLD)
        return WatchDecision(was_out and after.availability in BUYABLE, None)
    sold = after.availability == Availability.SOLD and before.availability != Availability.SOLD
    return WatchDecision(kind == "sold" and sold, None)


def comparable_availability(kind: str, before: str, after: str) -> str:
    """Return the availability to compare the next change with; LISTED keeps the one before it."""
    return before if kind == "back_in_stock" and after == Availability.LISTED else after


def _is_at(point: ListingState, threshold: Money | None) -> bool:
    """Return whether the price is at or below the threshold; never, if the currencies differ."""
    return (
        point.price is not None
        and threshold is not None
        and point.price.is_like(threshold)
        and point.price <= threshold
        and point.availability in FOR_SALE
    )


def _moved(kind: str, price: Money, reference: Money | None, percent: float) -> WatchDecision:
    """Compare with the highest price since the last notification, so that many small steps add up."""
    if reference is None or not price.is_like(reference) or not reference.minor:
        # Currencies are not compared with each other; later prices are compared with this one.
        return WatchDecision(False, price)
    falls = kind == "fell_by"
    moved = reference - price if falls else price - reference
    if moved.minor > 0 and moved.is_percent_of(percent, reference):
        return WatchDecision(True, price)
    return WatchDecision(False, max(reference, price) if falls else min(reference, price))
