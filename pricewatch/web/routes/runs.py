"""Runs by spider, and one run page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.store.views import run_list
from pricewatch.vocabulary import RunStatus
from pricewatch.web.form_fields import After, Before, Id
from pricewatch.web.page_rows import run_row
from pricewatch.web.request_context import AVisit, RequestContext

router = APIRouter()
MOST, MOST_PAGES = 50, 100


@router.get("/admin/scraper")
def all_spiders(visit: AVisit, status: str = "", market: str = "", before: Before = None) -> Response:
    return _listed(visit, None, status, market, before)


@router.get("/admin/scraper/{spider:path}")
def by_spider(
    visit: AVisit, spider: str, status: str = "", market: str = "", before: Before = None
) -> Response:
    return _listed(visit, spider, status, market, before)


def _listed(
    visit: RequestContext, spider: str | None, status: str, market: str, before: int | None
) -> Response:
    with visit.read() as connection:
        spiders = run_list.spiders(connection)
        if spider is not None and spider not in spiders:
            raise HTTPException(404, f"No spider {spider[:60]!r} has run yet.")
        rows = run_list.runs(
            connection,
            spider=spider,
            status=status if status in set(RunStatus) else None,
            market_id=market or None,
            before_id=before,
            most=MOST + 1,
        )
        return visit.render(
            connection,
            "runs.html",
            spider=spider,
            spiders=spiders,
            here=_page_of(spider),
            status=status,
            statuses=[str(word) for word in RunStatus],
            market=market,
            rows=[run_row(row) for row in rows[:MOST]],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
        )


@router.get("/runs/{run_id}")
def one(visit: AVisit, run_id: Id, after: After = 0, outcome: str = "") -> Response:
    with visit.read() as connection:
        return visit.render(connection, "run.html", **_drill_down(connection, run_id, after, outcome or None))


@router.get("/fragments/runs/{run_id}")
def live(visit: AVisit, run_id: Id) -> Response:
    with visit.read() as connection:
        return visit.fragment("fragments/run.html", **_drill_down(connection, run_id, 0, None))


def _drill_down(connection: Any, run_id: int, after: int, outcome: str | None) -> dict[str, Any]:
    run = run_list.run(connection, run_id)
    if run is None:
        raise HTTPException(404, f"There is no run {run_id}.")
    shown = run_row(run)
    verifies = shown["kind"] == "verification"
    find = run_list.attempts if verifies else run_list.pages
    given = {} if verifies else {"outcome": outcome}
    rows = find(connection, run_id, after=after, most=MOST_PAGES + 1, **given)
    return {
        "run": shown,
        "pages": [] if verifies else rows[:MOST_PAGES],
        "attempts": rows[:MOST_PAGES] if verifies else [],
        "outcome": outcome or "",
        "more": rows[MOST_PAGES - 1]["id"] if len(rows) > MOST_PAGES else None,
        "collected": run_list.collected(connection, run_id) if run["status"] == "running" else [],
        "log": _log_of(run_list.project(connection, run), run) if run["job_id"] else None,
    }


def _page_of(spider: str | None) -> str:
    """The list of a spider's runs; a name may have any character."""
    return f"/admin/scraper/{quote(spider)}" if spider else "/admin/scraper"


def _log_of(project: str, run: dict[str, Any]) -> str:
    return f"/logs/{quote(project)}/{quote(run['spider'])}/{quote(run['job_id'])}.log"
