"""A price that jumps is not believed at once: another run has to see it too."""

from __future__ import annotations

from pricewatch.money import Money

# `pricewatch.store.writing.held_jumps` says the same in SQL; a test keeps the two equal.
JUMP_FACTOR = 4
AGREES_WITHIN = 0.05


def is_jump(known: Money | None, seen: Money | None, *, factor: float = JUMP_FACTOR) -> bool:
    """By more than a factor of 4, up or down, against the last stored price of the same currency."""
    if known is None or seen is None or not known.is_like(seen):
        return False
    return seen.exceeds(known, factor) or known.exceeds(seen, factor)


def agrees(held: Money, seen: Money, *, within: float = AGREES_WITHIN) -> bool:
    """Whether a second look saw the price that is held: shops round, and some follow an exchange rate."""
    if not held.is_like(seen):
        return False
    apart = held - seen if held > seen else seen - held
    return not apart.exceeds(held, within)
