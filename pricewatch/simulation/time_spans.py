"""Spans of time as tuples of begin and end; an open span has no end yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

Span = tuple[datetime, datetime]
OpenSpan = tuple[datetime, datetime | None]


def join_adjacent(spans: Iterable[OpenSpan]) -> list[OpenSpan]:
    """Join spans that follow each other without a gap."""
    joined: list[OpenSpan] = []
    for begins, ends in spans:
        if joined and joined[-1][1] == begins:
            joined[-1] = (joined[-1][0], ends)
        else:
            joined.append((begins, ends))
    return joined


def any_inside(inner: Iterable[Span], outer: Sequence[OpenSpan]) -> bool:
    """Whether any of the inner spans lies completely inside one of the outer spans."""
    return any(
        begins <= first and (ends is None or last <= ends) for first, last in inner for begins, ends in outer
    )


def earlier_end(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two ends; None is an open end."""
    return min(one, other) if one and other else one or other


def overlap(span: Span, others: Sequence[Span]) -> timedelta:
    """Return how much of a span the others cover; the others must not overlap each other."""
    covered = (min(span[1], end) - max(span[0], begin) for begin, end in others)
    return sum((each for each in covered if each > timedelta()), timedelta())
