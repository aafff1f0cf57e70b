"""What a check of a listing's page means for the listing."""

from __future__ import annotations

from collections.abc import Sequence

from pricewatch.vocabulary import Attempt

STRIKES_TO_BE_GONE = 2
MOST_PER_RUN = 200
GUARDED_BATCH = 20
NOT_FOUND = frozenset({404, 410})
HEAD_REFUSED = frozenset({403, 405, 501})


def attempt_from_status(status: int) -> Attempt:
    """Return what an HTTP status means: only 404 and 410 count against a listing."""
    if status in NOT_FOUND:
        return Attempt.NOT_FOUND
    return Attempt.ALIVE if 200 <= status < 300 else Attempt.TROUBLE


def strikes_after(strikes: int, attempt: Attempt, *, same_run: bool) -> int:
    """Return the strikes after a check; a run adds at most one strike, however many checks it makes."""
    if attempt is Attempt.ALIVE:
        return 0
    if attempt is Attempt.NOT_FOUND and not same_run:
        return min(strikes + 1, STRIKES_TO_BE_GONE)
    return strikes


def is_gone(strikes: int, attempt: Attempt) -> bool:
    """Return whether the listing is gone: after two strikes, or if its page says so."""
    return attempt in (Attempt.GONE, Attempt.SOLD) or strikes >= STRIKES_TO_BE_GONE


def counts_against_listing(*, vouched: bool, seen_since: bool, own_page: bool, in_market: bool) -> bool:
    """Return whether the missing page of a target counts against its listing.

    It does not if another target of the listing has a page (`vouched`), if the listing was seen since, or if
    a market lists it at another URL, so that the page of the target is not the listing's own.
    """
    return not vouched and not seen_since and (own_page or not in_market)


def is_mass_gone(attempts: Sequence[Attempt]) -> bool:
    """Return whether so many pages are missing at once that the site probably moved its URLs."""
    missing = sum(attempt in (Attempt.NOT_FOUND, Attempt.GONE) for attempt in attempts)
    return len(attempts) >= GUARDED_BATCH and missing > len(attempts) / 2
