"""Runs by kind, and one run page by page."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import RedirectResponse, Response

from pricewatch.items import RunStatus
from pricewatch.store import run_list
from pricewatch.web.fields import After, Before, Id
from pricewatch.web.rows import run_row
from pricewatch.web.visit import AVisit

router = APIRouter()
Kind = Literal["discovery", "sweep", "verification", "targets"]
KINDS = ("discovery", "sweep", "verification", "targets")
MOST, MOST_PAGES = 50, 100


@router.get("/admin/scraper")
def all_kinds() -> Response:
    return RedirectResponse("/admin/scraper/discovery", 303)


@router.get("/admin/scraper/{kind}")
def by_kind(visit: AVisit, kind: Kind, status: str = "", market: str = "", before: Before = None) -> Response:
    with visit.read() as connection:
        rows = run_list.runs(
            connection,
            spider=kind,
            status=status if status in set(RunStatus) else None,
            market_id=market or None,
            before_id=before,
            most=MOST + 1,
        )
        return visit.render(
            connection,
            "runs.html",
            kind=kind,
            kinds=KINDS,
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
    verifies = run["spider"] == "verification"
    find = run_list.attempts if verifies else run_list.pages
    given = {} if verifies else {"outcome": outcome}
    rows = find(connection, run_id, after=after, most=MOST_PAGES + 1, **given)
    return {
        "run": run_row(run),
        "pages": [] if verifies else rows[:MOST_PAGES],
        "attempts": rows[:MOST_PAGES] if verifies else [],
        "outcome": outcome or "",
        "more": rows[MOST_PAGES - 1]["id"] if len(rows) > MOST_PAGES else None,
        "collected": run_list.collected(connection, run_id) if run["status"] == "running" else [],
        "log": f"/logs/pricewatch/{run['spider']}/{run['job_id']}.log" if run["job_id"] else None,
    }
