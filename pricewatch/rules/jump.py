"""A price that jumps is not believed at once: another run has to see it too."""

from __future__ import annotations

# `pricewatch.store.price_jump` says the same in SQL; a test keeps the two equal.
JUMP_FACTOR = 4
AGREES_WITHIN = 0.05


def is_jump(known_cents: int | None, seen_cents: int | None, *, factor: float = JUMP_FACTOR) -> bool:
    """By more than a factor of 4, up or down, against the last stored price."""
    if not known_cents or not seen_cents:
        return False
    return seen_cents > known_cents * factor or seen_cents * factor < known_cents


def agrees(held_cents: int, seen_cents: int, *, within: float = AGREES_WITHIN) -> bool:
    """Whether a second look saw the price that is held: shops round, and some follow an exchange rate."""
    return abs(held_cents - seen_cents) <= held_cents * within
