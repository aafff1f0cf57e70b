"""One line of the benchmark's table."""

from __future__ import annotations

import os
from dataclasses import dataclass


class Skipped(Exception):
    """What is to be measured is not there, and why: no failure, but no figure either."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, what it is compared with, and what the ratio of the two must be.

    A bar is the least that the ratio may be, or the most where less is better.
    """

    name: str
    value: float
    unit: str
    baseline: float
    ratio: float
    bar: float
    aim: float | None = None
    less_is_better: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.ratio <= self.bar if self.less_is_better else self.ratio >= self.bar


def rounds(usual: int) -> int:
    """How often something is measured: as usual, or as `BENCH_ROUNDS` says, for who only wants to try."""
    return min(usual, max(1, int(os.environ.get("BENCH_ROUNDS") or usual)))
