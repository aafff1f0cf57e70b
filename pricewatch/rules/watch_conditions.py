"""Watch rules: whether a change of a listing triggers a notification."""

from __future__ import annotations

from dataclasses import dataclass

from pricewatch.money import Money
from pricewatch.vocabulary import Availability

# How many days before a price the lowest price is searched; None means all of them.
LOWEST_KINDS: dict[str, int | None] = {"lowest_ever": None, "lowest_in_30_days": 30}
PERCENT_KINDS = ("fell_by", "rose_by")
KINDS = ("price_at_or_below", *PERCENT_KINDS, "any_change", *LOWEST_KINDS, "back_in_stock", "sold", "gone")
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
    lowest: Money | None = None,
) -> WatchDecision:
    """Fire on the change that makes the condition true, and not again while it stays true.

    `lowest` is the lowest earlier price, for the rules that compare with it.
    """
    if after.price is None:
        return WatchDecision(False, reference)
    if kind == "price_at_or_below":
        return WatchDecision(_is_at(after, threshold) and not _is_at(before, threshold), None)
    if kind in PERCENT_KINDS:
        return _moved(kind, after.price, reference or before.price, percent or 0)
    if kind in LOWEST_KINDS:
        return WatchDecision(_is_lower(after, lowest), None)
    if kind == "any_change":
        return WatchDecision(after.price != before.price or _stock_changed(before, after), None)
    if kind == "back_in_stock":
        was_out = before.availability in (Availability.OUT_OF_STOCK, Availability.SOLD)
        return WatchDecision(was_out and after.availability in BUYABLE, None)
    sold = after.availability == Availability.SOLD and before.availability != Availability.SOLD
    return WatchDecision(kind == "sold" and sold, None)


def is_true_at_start(kind: str, state: ListingState, threshold: Money | None) -> bool:
    """Return whether a new rule is true already; rules about changes never are."""
    if kind == "price_at_or_below":
        return _is_at(state, threshold)
    return kind == "sold" and state.availability == Availability.SOLD and state.price is not None


def fires_for_new_offer(
    kind: str, state: ListingState, *, threshold: Money | None = None, lowest: Money | None = None
) -> bool:
    """Return whether an offer that joins a watched product fires the rule."""
    if kind in LOWEST_KINDS:
        return _is_lower(state, lowest)
    if kind == "any_change":
        return state.price is not None and state.availability in FOR_SALE
    return kind == "price_at_or_below" and _is_at(state, threshold)


def comparable_availability(kind: str, before: str, after: str) -> str:
    """Return the availability to compare the next change with; LISTED keeps the one before it."""
    keeps = kind in ("back_in_stock", "any_change") and after == Availability.LISTED
    return before if keeps else after


def _stock_changed(before: ListingState, after: ListingState) -> bool:
    """LISTED says nothing of the stock, so neither a change to it nor from it counts."""
    return before.availability != after.availability and Availability.LISTED not in (
        before.availability,
        after.availability,
    )


def _is_lower(point: ListingState, lowest: Money | None) -> bool:
    return (
        point.price is not None
        and lowest is not None
        and point.price.is_like(lowest)
        and point.price < lowest
        and point.availability in FOR_SALE
    )


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
