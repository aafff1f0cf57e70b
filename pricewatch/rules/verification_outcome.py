"""What a look at a listing's own page means for it."""

from __future__ import annotations

from collections.abc import Sequence

from pricewatch.vocabulary import Attempt

STRIKES_TO_BE_GONE = 2
MOST_PER_RUN = 200
GUARDED_BATCH = 20
NOT_FOUND = frozenset({404, 410})
HEAD_REFUSED = frozenset({403, 405, 501})


def by_status(status: int) -> Attempt:
    """What a status says by itself: only 404 and 410 speak against a listing; trouble says nothing."""
    if status in NOT_FOUND:
        return Attempt.NOT_FOUND
    return Attempt.ALIVE if 200 <= status < 300 else Attempt.TROUBLE


def strikes_after(strikes: int, attempt: Attempt, *, same_run: bool) -> int:
    """Strikes count runs, not requests: two looks of one run are one strike at the most."""
    if attempt is Attempt.ALIVE:
        return 0
    if attempt is Attempt.NOT_FOUND and not same_run:
        return min(strikes + 1, STRIKES_TO_BE_GONE)
    return strikes


def is_gone(strikes: int, attempt: Attempt) -> bool:
    """Gone by two strikes, or at once where the page itself says so."""
    return attempt in (Attempt.GONE, Attempt.SOLD) or strikes >= STRIKES_TO_BE_GONE


def speaks_against(*, vouched: bool, seen_since: bool, own_page: bool, in_market: bool) -> bool:
    """Whether the missing page of a target speaks against its listing.

    It does not while another target of the listing has its page, nor if the listing was seen since. Where a
    market shows the listing at an address of its own, the page of the target is not the listing's.
    """
    return not vouched and not seen_since and (own_page or not in_market)


def is_mass_gone(attempts: Sequence[Attempt]) -> bool:
    """A site that moved its URLs is not a site that sold everything."""
    missing = sum(attempt in (Attempt.NOT_FOUND, Attempt.GONE) for attempt in attempts)
    return len(attempts) >= GUARDED_BATCH and missing > len(attempts) / 2
