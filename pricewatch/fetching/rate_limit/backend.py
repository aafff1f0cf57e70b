"""The interface of a limiter backend, whether it stores its state in PostgreSQL or in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from pricewatch.rules.request_budget import Limit


class Refusal(StrEnum):
    """Why nothing was reserved."""

    FULL = "full"
    TOO_FAR = "too_far"


class LimiterBackend(Protocol):
    """Each method is one atomic step, timed by the server clock."""

    def reserve(
        self, domain: str, ticket: str, limit: Limit, *, max_wait: float, lease: float
    ) -> float | Refusal:
        """Reserve the next free moment and lease a slot until `lease` seconds after it; return the wait."""

    def release(self, domain: str, ticket: str) -> None:
        """Free the slot of a ticket."""

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        """Extend the leases of these tickets to `lease` seconds from now."""

    def hold(self, domain: str, seconds: float) -> None:
        """Make no reservation for the next `seconds`; earlier reservations stay."""


def outcome(*, has_slot: bool, until_next: float, limit: Limit, max_wait: float) -> float | Refusal:
    """Compute the result of `reserve`; `until_next` is the time to the next free moment, in seconds."""
    if has_slot:
        return max(0.0, until_next - limit.interval)
    return Refusal.TOO_FAR if until_next > max_wait else Refusal.FULL
