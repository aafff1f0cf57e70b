"""The progress through one start page of a market, and the result of reading each of its pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scrapy.http import Request
from twisted.python.failure import Failure

from pricewatch.items import OverviewPage
from pricewatch.rules.list_end import Answer, judge_answer
from pricewatch.runs.requested_page import outcome_of
from pricewatch.vocabulary import PageOutcome


@dataclass(slots=True, kw_only=True)
class PageReading:
    """The result of one request for a page of a list."""

    number: int
    url: str
    outcome: PageOutcome
    http_status: int | None = None
    error: str = ""
    duration_ms: int | None = None
    proxy: str | None = None
    # If the page has cards: those that pass the market's filters, and a fingerprint of all cards.
    page: OverviewPage | None = None
    fingerprint: int | None = None
    has_next: bool = False
    total: int | None = None
    # The target of a redirect to another page than the requested one.
    redirected_to: str = ""
    # Whether the page may be an empty list or a page of another kind.
    uncertain: bool = False
    # Whether the page is not requested again: robots.txt forbids it, or reading it took too long.
    is_final: bool = False

    @property
    def answer(self) -> Answer:
        return judge_answer(self.number, self.outcome, self.http_status)


@dataclass(slots=True)
class StartPage:
    """The progress through one start page of a market."""

    url: str
    requested: int = 0
    read: int = 0
    has_next: bool = True
    # Cards on its pages: all of them, and those that pass the market's filters.
    cards_on_pages: int = 0
    collected: int = 0
    new_by_page: list[int] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    failed_page: int | None = None
    completed: bool = False
    # A fingerprint of each page that this run has read, and the final URL of its first page.
    fingerprints: dict[int, int] = field(default_factory=dict)
    landed: str = ""
    # The element of its first page that indicates more pages.
    more_pages_hint: str = ""
    # The response past its end, if there was one.
    past_end: PageReading | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "start_page": self.url,
            "pages": self.read,
            "collected": self.collected,
            "failure_count": len(self.failures),
            "failures": self.failures[-10:],
            "failed_page": self.failed_page,
            "completed": self.completed,
        }


def failed_reading(failure: Failure, request: Request, number: int) -> PageReading:
    outcome, status, error = outcome_of(failure)
    return PageReading(
        number=number,
        url=request.url,
        outcome=outcome,
        http_status=status,
        error=error,
        proxy=request.meta.get("proxy_name"),
        is_final=outcome is PageOutcome.ROBOTS,
    )
