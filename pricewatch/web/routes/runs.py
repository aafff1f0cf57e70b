"""Runs by spider, and the pages of one run."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.store.views import run_list
from pricewatch.vocabulary import RunStatus
from pricewatch.web.form_fields import After, Before, Id
from pricewatch.web.page_rows import run_row
from pricewatch.web.request_context import Context, RequestContext

router = APIRouter()
MOST, MOST_PAGES = 50, 100


@router.get("/admin/scraper")
def all_runs(context: Context, status: str = "", market: str = "", before: Before = None) -> Response:
    return _list_page(context, None, status, market, before)


@router.get("/admin/scraper/{spider:path}")
def runs_of_spider(
    context: Context, spider: str, status: str = "", market: str = "", before: Before = None
) -> Response:
    return _list_page(context, spider, status, market, before)


def _list_page(
    context: RequestContext, spider: str | None, status: str, market: str, before: int | None
) -> Response:
    with context.read() as connection:
        spiders = run_list.spider_names(connection)
        if spider is not None and spider not in spiders:
            raise HTTPException(404, f"The spider {spider[:60]!r} has no runs.")
        rows = run_list.runs(
            connection,
            spider=spider,
            status=status if status in set(RunStatus) else None,
            market_id=market or None,
            before_id=before,
            most=MOST + 1,
        )
        return context.render(
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
def detail_page(context: Context, run_id: Id, after: After = 0, outcome: str = "") -> Response:
    with context.read() as connection:
        return context.render(connection, "run.html", **_details(connection, run_id, after, outcome or None))


@router.get("/fragments/runs/{run_id}")
def run_fragment(context: Context, run_id: Id) -> Response:
    with context.read() as connection:
        return context.fragment("fragments/run.html", **_details(connection, run_id, 0, None))


def _details(connection: Any, run_id: int, after: int, outcome: str | None) -> dict[str, Any]:
    run = run_list.run(connection, run_id)
    if run is None:
        raise HTTPException(404, f"There is no run {run_id}.")
    row = run_row(run)
    is_verification = row["kind"] == "verification"
    find = run_list.attempts if is_verification else run_list.pages
    filters = {} if is_verification else {"outcome": outcome}
    rows = find(connection, run_id, after=after, most=MOST_PAGES + 1, **filters)
    return {
        "run": row,
        "pages": [] if is_verification else rows[:MOST_PAGES],
        "attempts": rows[:MOST_PAGES] if is_verification else [],
        "outcome": outcome or "",
        "more": rows[MOST_PAGES - 1]["id"] if len(rows) > MOST_PAGES else None,
        "collected": run_list.uncommitted_cards(connection, run_id) if run["status"] == "running" else [],
        "log": _log_of(run_list.project_of(connection, run), run) if run["job_id"] else None,
    }


def _page_of(spider: str | None) -> str:
    """The address of the list of a spider's runs; a spider name may contain any character."""
    return f"/admin/scraper/{quote(spider)}" if spider else "/admin/scraper"


def _log_of(project: str, run: dict[str, Any]) -> str:
    return f"/logs/{quote(project)}/{quote(run['spider'])}/{quote(run['job_id'])}.log"
