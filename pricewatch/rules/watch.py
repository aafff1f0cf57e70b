"""Watch rules: whether a change is one that somebody wants to be told of."""

from __future__ import annotations

from dataclasses import dataclass

from pricewatch.items import Availability

KINDS = ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone")
BUYABLE = frozenset({Availability.IN_STOCK, Availability.BACKORDER})
# What is listed is for sale at its price, whether or not its page has told of its stock yet.
FOR_SALE = BUYABLE | {Availability.LISTED}


@dataclass(frozen=True, slots=True)
class Point:
    """What a listing cost, and whether it could be had."""

    price_cents: int | None
    currency: str | None
    availability: str


@dataclass(frozen=True, slots=True)
class Verdict:
    fires: bool
    # What the next change is compared with, for rules about how far a price moved.
    reference_cents: int | None


def judge(
    kind: str,
    before: Point,
    after: Point,
    reference_cents: int | None,
    *,
    threshold_cents: int | None = None,
    threshold_percent: float | None = None,
) -> Verdict:
    """A rule fires on the change that makes its condition true, and not again while it stays true."""
    if after.price_cents is None:
        return Verdict(False, reference_cents)
    if before.currency != after.currency:
        # Two currencies are not compared; what follows is compared with this one.
        return Verdict(False, after.price_cents)
    if kind == "price_at_or_below":
        return Verdict(_is_at(after, threshold_cents) and not _is_at(before, threshold_cents), None)
    if kind in ("fell_by", "rose_by"):
        return _moved(kind, after.price_cents, reference_cents or before.price_cents, threshold_percent or 0)
    if kind == "back_in_stock":
        was_out = before.availability in (Availability.OUT_OF_STOCK, Availability.SOLD)
        return Verdict(was_out and after.availability in BUYABLE, None)
    sold = after.availability == Availability.SOLD and before.availability != Availability.SOLD
    return Verdict(kind == "sold" and sold, None)


def known_stock(kind: str, before: str, after: str) -> str:
    """What the next change of stock is compared with: LISTED says nothing of it, so what was known stands."""
    return before if kind == "back_in_stock" and after == Availability.LISTED else after


def _is_at(point: Point, threshold_cents: int | None) -> bool:
    return (
        point.price_cents is not None
        and threshold_cents is not None
        and point.price_cents <= threshold_cents
        and point.availability in FOR_SALE
    )


def _moved(kind: str, price: int, reference: int | None, percent: float) -> Verdict:
    """Against the highest price since the last message, so that many small steps count as well."""
    if not reference:
        return Verdict(False, price)
    falls = kind == "fell_by"
    moved = (reference - price if falls else price - reference) * 100
    if moved > 0 and moved >= percent * reference:
        return Verdict(True, price)
    return Verdict(False, max(reference, price) if falls else min(reference, price))
