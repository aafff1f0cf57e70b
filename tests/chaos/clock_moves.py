"""Convert times of the marketplace's clock, which faults move by hours, to the real clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pricewatch.bazaar.client import TruthListing


class ClockMoves:
    """All moves of the clock, so that the truth can be compared with stored times."""

    def __init__(self) -> None:
        # The real time of each move, and how far ahead the marketplace is from then on.
        self._moves = [(datetime.min.replace(tzinfo=UTC), timedelta())]

    def add(self, at: datetime, by: timedelta) -> None:
        self._moves.append((at, self._moves[-1][1] + by))

    def real(self, instant: datetime) -> datetime:
        """Return when the clock of the marketplace first reached or passed this instant."""
        for (begins, ahead), (ends, _) in zip(self._moves, self._moves[1:], strict=False):
            if instant - ahead < ends:
                return max(begins, instant - ahead)
        begins, ahead = self._moves[-1]
        return max(begins, instant - ahead)

    def by_real_clock(self, true: TruthListing) -> TruthListing:
        """Return the listing with all of its times by the real clock."""
        return replace(
            true,
            listed_at=self.real(true.listed_at),
            prices=[(self.real(at), price) for at, price in true.prices],
            spans=[
                (self.real(begins), self.real(ends) if ends else None, state, mode)
                for begins, ends, state, mode in true.spans
            ],
            shown=[
                replace(each, begins=self.real(each.begins), ends=self.real(each.ends) if each.ends else None)
                for each in true.shown
            ],
        )
