"""How far one start page of a market has been read, and what came of each of its pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scrapy.http import Request
from twisted.python.failure import Failure

from pricewatch.items import OverviewPage
from pricewatch.rules.list_end import Answer, judge_answer
from pricewatch.spiders.base import outcome_of
from pricewatch.vocabulary import PageOutcome


@dataclass(slots=True, kw_only=True)
class PageReading:
    """What came of one request for a page of a list."""

    number: int
    url: str
    outcome: PageOutcome
    http_status: int | None = None
    error: str = ""
    duration_ms: int | None = None
    proxy: str | None = None
    # What the page shows, if it shows any cards: those that the market wants, and a fingerprint of all.
    page: OverviewPage | None = None
    fingerprint: int | None = None
    has_next: bool = False
    total: int | None = None
    # Where a redirect led that did not end at the page that was asked for.
    led_to: str = ""
    # Whether it may be an empty list or another page altogether.
    uncertain: bool = False

    @property
    def answer(self) -> Answer:
        return judge_answer(self.number, self.outcome, self.http_status)


@dataclass(slots=True)
class StartPage:
    """How far one start page of a market has been read."""

    url: str
    requested: int = 0
    read: int = 0
    has_next: bool = True
    # Cards on its pages: all that they show, and those that the market wants.
    shown: int = 0
    collected: int = 0
    new_by_page: list[int] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    failed_page: int | None = None
    completed: bool = False
    # What each page shows that this run has read, and where its first page was found.
    prints: dict[int, int] = field(default_factory=dict)
    landed: str = ""
    # What on its first page says that there are more.
    sign_of_more: str = ""
    # The answer from beyond its end, if there was one.
    beyond: PageReading | None = None

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
    )
