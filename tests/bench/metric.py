"""A row in the table of a benchmark."""

from __future__ import annotations

import os
from dataclasses import dataclass


class Skipped(Exception):
    """A benchmark cannot run here; the message has the reason. Not a failure."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured value, its baseline, and their ratio.

    `limit` is the minimum of the ratio, or the maximum if less is better; `goal` is only printed.
    """

    name: str
    value: float
    unit: str
    baseline: float
    ratio: float
    limit: float
    goal: float | None = None
    less_is_better: bool = False
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.ratio <= self.limit if self.less_is_better else self.ratio >= self.limit


def rounds(default: int) -> int:
    """Return the number of rounds: the default, or `BENCH_ROUNDS` if it is lower."""
    return min(default, max(1, int(os.environ.get("BENCH_ROUNDS") or default)))
