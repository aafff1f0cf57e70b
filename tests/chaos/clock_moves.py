"""The marketplace's clock is moved on by hours at once: when, by the real clock, did its instants come?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pricewatch.bazaar.client import TruthListing


class Instants:
    """Remembers each move, so that what the marketplace dates can be compared with what we stored."""

    def __init__(self) -> None:
        # From when on, by the real clock, the marketplace was how far ahead.
        self._moves = [(datetime.min.replace(tzinfo=UTC), timedelta())]

    def move(self, at: datetime, by: timedelta) -> None:
        self._moves.append((at, self._moves[-1][1] + by))

    def real(self, instant: datetime) -> datetime:
        """When the marketplace's clock first showed this instant, or was past it."""
        for (begins, ahead), (ends, _) in zip(self._moves, self._moves[1:], strict=False):
            if instant - ahead < ends:
                return max(begins, instant - ahead)
        begins, ahead = self._moves[-1]
        return max(begins, instant - ahead)

    def dated(self, true: TruthListing) -> TruthListing:
        """The same listing, with all of its dates by the real clock."""
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
