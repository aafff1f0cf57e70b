"""Habits that depend on the request: maintenance, and A/B layouts."""

from dataclasses import dataclass

from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.http_messages import Request, Response

HOUR = 3600
MAINTENANCE = Response(
    200,
    b'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Maintenance</title></head><body>'
    b"<h1>We will be back soon</h1><p>The shop is briefly unavailable for scheduled maintenance."
    b" Please check back in a minute.</p></body></html>\n",
)


@dataclass(frozen=True, slots=True)
class MaintenanceHabit(Habit):
    """Every page is a maintenance page with status 200."""


@dataclass(frozen=True, slots=True)
class LayoutHabit(Habit):
    """A share of requests gets the alternative layout; a cookie keeps a visitor in it."""

    cookie: str = "layout=b"

    def is_alternative(self, period: Period, request: Request, now: float) -> bool:
        """Return whether a request gets the alternative layout: by cookie, or at random per page and hour."""
        cookies = request.headers.get("cookie", "")
        return (
            self.cookie in cookies
            or period.random_value(f"{request.target}/{now // HOUR:.0f}") < period.share
        )


REQUESTS = (
    MaintenanceHabit("maintenance", "every page is a maintenance page with status 200"),
    LayoutHabit("ab_layout", "some requests get another layout of cards and pages", share=0.5),
)
