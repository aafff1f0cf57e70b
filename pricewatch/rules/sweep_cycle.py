"""Which pages a sweep reads, and whether a complete cycle saw enough of the market."""

from __future__ import annotations

from enum import StrEnum

from pricewatch.vocabulary import Availability

PAGES_PER_RUN = 50
OVERLAP_PAGES = 5
LEAST_COVERAGE = 0.7
AGREEMENT = 0.1
PRICE_SHARE_DROP = 0.3
PRICE_SHARE_AGREES_WITHIN = 0.1


class Cycle(StrEnum):
    """The result of a cycle from page 1 to the end."""

    COMPLETE = "complete"
    # It saw too little to conclude anything.
    PARTIAL = "partial"
    # It saw too little, but as much as the cycle before: the market shrank.
    SHRUNK = "shrunk"


def window(last: int | None, *, pages: int = PAGES_PER_RUN, overlap: int = OVERLAP_PAGES) -> tuple[int, int]:
    """Return the first and last page of a run after the checkpoint `last`: 1–50, then 45–95, then 90–140.

    The overlap catches listings that new ones pushed to later pages in the meantime.
    """
    if not last or last < 1:
        return 1, pages
    return max(1, last - overlap), last + pages - overlap


def covers(seen: int, seen_by_last_complete_cycle: int | None, *, least: float = LEAST_COVERAGE) -> bool:
    """Return whether a cycle saw enough compared with the last complete one."""
    if seen <= 0:
        return False
    return seen_by_last_complete_cycle is None or seen >= least * seen_by_last_complete_cycle


def judge_cycle(
    seen: int,
    last_complete: int | None,
    last_partial: int | None,
    *,
    least: float = LEAST_COVERAGE,
    agreement: float = AGREEMENT,
) -> Cycle:
    """Compare a cycle with the last complete one and, if it saw too little, with the last partial one."""
    if covers(seen, last_complete, least=least):
        return Cycle.COMPLETE
    if seen > 0 and last_partial is not None:
        larger = max(seen, last_partial)
        if larger - min(seen, last_partial) <= agreement * larger:
            return Cycle.SHRUNK
    return Cycle.PARTIAL


def should_have_price(availability: str | None) -> bool:
    """Return whether a card should have a price: shops hide only the prices of sold-out products."""
    return availability not in (Availability.OUT_OF_STOCK, Availability.SOLD)


def shows_prices(
    share: float | None,
    last_share: float | None,
    doubted_share: float | None,
    *,
    drop: float = PRICE_SHARE_DROP,
    within: float = PRICE_SHARE_AGREES_WITHIN,
) -> bool:
    """Return whether the share of cards with a price is about the same as before.

    A share that fell by more than `drop` is accepted only if a second cycle confirms it.
    """
    if share is None or last_share is None or last_share - share <= drop:
        return True
    return doubted_share is not None and abs(share - doubted_share) <= within
