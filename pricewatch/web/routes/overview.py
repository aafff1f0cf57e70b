"""The page that people keep open: what runs, what changed, what is wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.store.views import alert_list, dashboard, market_list, run_list
from pricewatch.web.page_rows import run_row
from pricewatch.web.request_context import AVisit

router = APIRouter()
DAYS = 14


@router.get("/")
def show(visit: AVisit) -> Response:
    with visit.read() as connection:
        markets = market_list.markets(connection)
        listings, exact = dashboard.estimate(connection, "listings")
        return visit.render(
            connection,
            "overview.html",
            today=dashboard.today(connection, visit.now),
            listings=listings,
            listings_exact=exact,
            running=[run_row(row) for row in run_list.running(connection)],
            last_runs=[run_row(row) for row in run_list.runs(connection, most=8)],
            changes=dashboard.changes(connection),
            alerts=alert_list.alerts(connection, open_only=True, most=5),
            days=_days(run_list.per_day(connection, visit.now, DAYS), visit.now),
            markets=[row for row in markets if row["enabled"]],
            stale={row["id"] for row in markets if market_list.is_stale(row, visit.now)},
        )


@router.get("/fragments/running")
def running(visit: AVisit) -> Response:
    with visit.read() as connection:
        rows = [run_row(row) for row in run_list.running(connection)]
    return visit.fragment("fragments/running.html", running=rows)


def _days(rows: list[dict[str, Any]], now: Any) -> list[tuple[str, int, int]]:
    found = {(now - timedelta(days=DAYS - 1 - place)).date(): [0, 0] for place in range(DAYS)}
    for row in rows:
        if row["day"] in found:
            found[row["day"]][0] += row["runs"]
            found[row["day"]][1] += row["bad"]
    return [(day.isoformat(), total, bad) for day, (total, bad) in found.items()]
