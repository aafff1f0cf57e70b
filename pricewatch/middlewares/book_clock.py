"""The clock of the book of turns, seen from here: an answer that took long to arrive moves no turn."""

from __future__ import annotations

from math import inf

# Two good clocks drift apart by no more than this, in seconds a second.
DRIFT = 1e-4


class BookClock:
    """How far the book's clock is ahead of ours: between two bounds, closer with each quick answer."""

    def __init__(self) -> None:
        self._least, self._most = -inf, inf
        self._learnt_at = 0.0

    def learn(self, asked: float, told: float, answered: float) -> None:
        """The book said what time it was, somewhere between our asking and its answer."""
        drifted = DRIFT * (answered - self._learnt_at)
        least, most = told - answered, told - asked
        known_least, known_most = self._least - drifted, self._most + drifted
        if least <= known_most and most >= known_least:
            least, most = max(least, known_least), min(most, known_most)
        # Else one of the clocks was set: what was known is worth nothing.
        self._least, self._most = least, most
        self._learnt_at = answered

    def ours(self, moment: float) -> float:
        """When, by our clock, the book's clock shows this moment."""
        return moment - (self._least + self._most) / 2
