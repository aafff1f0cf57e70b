"""What a book of turns can do, be it kept in PostgreSQL or in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pricewatch.rules.request_budget import Grant, Limit


class TurnBook(Protocol):
    """Where the turns of all processes are kept. Each method is one atomic step, by the book's own clock."""

    def reserve(
        self,
        domain: str,
        tickets: Sequence[str],
        limit: Limit,
        *,
        horizon: float,
        lease: float,
        ahead: float = 0.0,
    ) -> list[Grant]:
        """Turns for these tickets, an interval apart; none sooner than ahead or later than the horizon."""

    def confirm(self, domain: str, ticket: str, limit: Limit, *, lease: float) -> bool:
        """Whether a turn that was not sure stands now that it has come; if not, it is given up."""

    def release(self, domain: str, tickets: Sequence[str]) -> None:
        """These are done; who never says so is done when its lease ends."""

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        """These are still under way."""

    def hold(self, domain: str, seconds: float) -> None:
        """No new turn before then."""
