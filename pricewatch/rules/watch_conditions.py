"""Watch rules: whether a change is one that somebody wants to be told of."""

from __future__ import annotations

from dataclasses import dataclass

from pricewatch.money import Money
from pricewatch.vocabulary import Availability

KINDS = ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone")
BUYABLE = frozenset({Availability.IN_STOCK, Availability.BACKORDER})
# What is listed is for sale at its price, whether or not its page has told of its stock yet.
FOR_SALE = BUYABLE | {Availability.LISTED}


@dataclass(frozen=True, slots=True)
class Point:
    """What a listing cost, and whether it could be had."""

    price: Money | None
    availability: str


@dataclass(frozen=True, slots=True)
class WatchDecision:
    fires: bool
    # What the next change is compared with, for rules about how far a price moved.
    reference: Money | None


def judge(
    kind: str,
    before: Point,
    after: Point,
    reference: Money | None,
    *,
    threshold: Money | None = None,
    percent: float | None = None,
) -> WatchDecision:
    """A rule fires on the change that makes its condition true, and not again while it stays true."""
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


def known_stock(kind: str, before: str, after: str) -> str:
    """What the next change of stock is compared with: LISTED says nothing of it, so what was known stands."""
    return before if kind == "back_in_stock" and after == Availability.LISTED else after


def _is_at(point: Point, threshold: Money | None) -> bool:
    """A price of another currency than the rule's is never at or below it."""
    return (
        point.price is not None
        and threshold is not None
        and point.price.is_like(threshold)
        and point.price <= threshold
        and point.availability in FOR_SALE
    )


def _moved(kind: str, price: Money, reference: Money | None, percent: float) -> WatchDecision:
    """Against the highest price since the last message, so that many small steps count as well."""
    if reference is None or not price.is_like(reference) or not reference.minor:
        # Two currencies are not compared; what follows is compared with this one.
        return WatchDecision(False, price)
    falls = kind == "fell_by"
    moved = reference - price if falls else price - reference
    if moved.minor > 0 and moved.is_percent_of(percent, reference):
        return WatchDecision(True, price)
    return WatchDecision(False, max(reference, price) if falls else min(reference, price))
