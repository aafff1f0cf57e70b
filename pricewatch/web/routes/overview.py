"""The overview: current runs, recent price changes, open alerts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.store.views import alert_list, dashboard, market_list, run_list
from pricewatch.web.page_rows import run_row
from pricewatch.web.request_context import Context

router = APIRouter()
DAYS = 14


@router.get("/")
def overview_page(context: Context) -> Response:
    with context.read() as connection:
        markets = market_list.markets(connection)
        listings, exact = dashboard.estimate_rows(connection, "listings")
        return context.render(
            connection,
            "overview.html",
            today=dashboard.last_24_hours(connection, context.now),
            listings=listings,
            listings_exact=exact,
            running=[run_row(row) for row in run_list.running(connection)],
            last_runs=[run_row(row) for row in run_list.runs(connection, most=8)],
            changes=dashboard.recent_changes(connection),
            alerts=alert_list.alerts(connection, open_only=True, most=5),
            days=_days(run_list.per_day(connection, context.now, DAYS), context.now),
            markets=[row for row in markets if row["enabled"]],
            stale={row["id"] for row in markets if market_list.is_stale(row, context.now)},
        )


@router.get("/fragments/running")
def running_fragment(context: Context) -> Response:
    with context.read() as connection:
        rows = [run_row(row) for row in run_list.running(connection)]
    return context.fragment("fragments/running.html", running=rows)


def _days(rows: list[dict[str, Any]], now: Any) -> list[tuple[str, int, int]]:
    counts = {(now - timedelta(days=days)).date(): [0, 0] for days in reversed(range(DAYS))}
    for row in rows:
        if row["day"] in counts:
            counts[row["day"]][0] += row["runs"]
            counts[row["day"]][1] += row["bad"]
    return [(day.isoformat(), total, bad) for day, (total, bad) in counts.items()]
