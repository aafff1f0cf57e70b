"""Habits that depend on the visit: a site under maintenance, and two layouts at once."""

from dataclasses import dataclass

from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.messages import Request, Response

HOUR = 3600
MAINTENANCE = Response(
    200,
    b'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Maintenance</title></head><body>'
    b"<h1>We will be back soon</h1><p>The shop is briefly unavailable for scheduled maintenance."
    b" Please check back in a minute.</p></body></html>\n",
)


@dataclass(frozen=True, slots=True)
class MaintenanceHabit(Habit):
    """Every page is the same: back soon, with status 200."""


@dataclass(frozen=True, slots=True)
class LayoutHabit(Habit):
    """Some visits get another layout; `share` is how many. A cookie keeps a visitor with theirs."""

    cookie: str = "layout=b"

    def is_other(self, period: Period, request: Request, now: float) -> bool:
        """Tell whether this visit gets the other layout; without a cookie, each page and hour decides."""
        cookies = request.headers.get("cookie", "")
        return self.cookie in cookies or period.draw(f"{request.target}/{now // HOUR:.0f}") < period.share


VISITS = (
    MaintenanceHabit("maintenance", "every page is a maintenance page with status 200"),
    LayoutHabit("ab_layout", "some visits get another layout of cards and pages", share=0.5),
)
