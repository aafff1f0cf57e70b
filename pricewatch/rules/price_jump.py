"""Price jumps: a price that jumps is accepted only after another run has observed it too."""

from __future__ import annotations

from pricewatch.money import Money

# `pricewatch.store.writing.jump_quarantine` implements the same rule in SQL; a test keeps the two equal.
JUMP_FACTOR = 4
AGREES_WITHIN = 0.05


def is_jump(known: Money | None, seen: Money | None, *, factor: float = JUMP_FACTOR) -> bool:
    """Return whether the price differs from the stored price in its currency by more than the factor."""
    if known is None or seen is None or not known.is_like(seen):
        return False
    return seen.exceeds(known, factor) or known.exceeds(seen, factor)


def needs_person(known: Money | None, seen: Money | None, *, share: float | None) -> bool:
    """Return whether strict review holds a price that differs from the known one by more than a share.

    A price in another currency cannot be compared, so it is held too.
    """
    if share is None or known is None or seen is None or known == seen:
        return False
    if not known.is_like(seen):
        return True
    apart = known - seen if known > seen else seen - known
    return apart.exceeds(known, share)


def agrees(quarantined: Money, seen: Money, *, within: float = AGREES_WITHIN) -> bool:
    """Return whether a second observation confirms a quarantined price, up to rounding and exchange rates."""
    if not quarantined.is_like(seen):
        return False
    apart = quarantined - seen if quarantined > seen else seen - quarantined
    return not apart.exceeds(quarantined, within)
