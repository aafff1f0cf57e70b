"""How well an adapter reads its site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rates:
    """None where nothing was attempted, so that there is nothing to divide by."""

    failure_rate: float | None
    drop_rate: float | None
    yield_rate: float | None


def rates(counters: Mapping[str, int]) -> Rates:
    """Out of stock without a price is expected: such URLs count for nothing here."""
    expected = counters.get("oos_no_price_count", 0)
    attempted = counters.get("urls_attempted", 0) - expected
    extracted = counters.get("offers_extracted", 0)
    return Rates(
        failure_rate=_rate(counters.get("urls_failed", 0), attempted),
        drop_rate=_rate(counters.get("offers_dropped", 0), extracted),
        yield_rate=_rate(counters.get("offers_valid", 0), attempted),
    )


def _rate(part: int, whole: int) -> float | None:
    return round(min(1.0, part / whole), 4) if whole > 0 else None
