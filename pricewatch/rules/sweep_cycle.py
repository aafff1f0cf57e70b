"""Which pages a sweep reads, and whether a whole cycle saw enough of the market."""

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
    """What a cycle from page 1 to the end comes to."""

    COMPLETE = "complete"
    # It saw too little to conclude anything.
    PARTIAL = "partial"
    # It saw too little, and as much as the cycle before: the market did shrink.
    SHRUNK = "shrunk"


def window(last: int | None, *, pages: int = PAGES_PER_RUN, overlap: int = OVERLAP_PAGES) -> tuple[int, int]:
    """First and last page of a run, after the checkpoint `last`: 1–50, then 45–95, then 90–140.

    The overlap catches what new listings pushed down meanwhile.
    """
    if not last or last < 1:
        return 1, pages
    return max(1, last - overlap), last + pages - overlap


def covers(seen: int, seen_by_last_complete_cycle: int | None, *, least: float = LEAST_COVERAGE) -> bool:
    """Whether a cycle from page 1 to the end saw enough, compared with the last complete one, to conclude."""
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
    """Compare what a cycle saw with the last complete one and, if that was partial, with the one before."""
    if covers(seen, last_complete, least=least):
        return Cycle.COMPLETE
    if seen > 0 and last_partial is not None:
        larger = max(seen, last_partial)
        if larger - min(seen, last_partial) <= agreement * larger:
            return Cycle.SHRUNK
    return Cycle.PARTIAL


def owes_a_price(availability: str | None) -> bool:
    """Shops hide the price of what is sold out; any other card is expected to show one."""
    return availability not in (Availability.OUT_OF_STOCK, Availability.SOLD)


def shows_prices(
    share: float | None,
    last_share: float | None,
    doubted_share: float | None,
    *,
    drop: float = PRICE_SHARE_DROP,
    within: float = PRICE_SHARE_AGREES_WITHIN,
) -> bool:
    """Whether the share of cards with a price is as before.

    If it fell by more than `drop`, prices cannot be read; a second cycle that agrees is believed.
    """
    if share is None or last_share is None or last_share - share <= drop:
        return True
    return doubted_share is not None and abs(share - doubted_share) <= within
