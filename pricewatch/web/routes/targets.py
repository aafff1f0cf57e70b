"""Targets: listed, paused, resumed, requeued, removed."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.money import Money
from pricewatch.store.models.target_tables import TARGET_STATUSES
from pricewatch.store.queues import job_queue, target_queue, target_rows
from pricewatch.store.queues.target_rows import Wanted
from pricewatch.web.form_fields import After
from pricewatch.web.request_context import AForm, AVisit

router = APIRouter()
MOST = 100


@router.get("/targets")
def found(visit: AVisit, status: str = "", q: str = "", after: After = 0) -> Response:
    words = q.replace("\x00", "").strip()[:200]
    wanted = Wanted(status=status if status in TARGET_STATUSES else None, contains=words or None)
    with visit.read() as connection:
        rows, more = target_rows.page(connection, wanted, most=MOST, after=after)
        return visit.render(
            connection,
            "targets.html",
            rows=[{**row, "price": Money.of(row["price_cents"], row["currency"])} for row in rows],
            more=more,
            asked={"status": status, "q": q},
            statuses=TARGET_STATUSES,
        )


@router.post("/targets")
def act(visit: AVisit, form: AForm) -> Response:
    ids, action = form.numbers("id"), form.text("action")
    if not ids:
        return visit.back("/targets", "Choose at least one target.", good=False)
    subject = f"target {ids[0]}" if len(ids) == 1 else f"{len(ids)} targets"
    with visit.change(f"targets: {action}", subject, ids=ids) as connection:
        if action == "pause":
            told = f"{target_rows.pause(connection, ids, visit.now)} paused."
        elif action == "resume":
            told = f"{target_rows.resume(connection, ids, visit.now)} resumed."
        elif action == "remove":
            told = f"{target_rows.remove(connection, ids)} removed; their history stays."
        elif action == "requeue":
            admission = target_queue.enqueue(connection, ids, visit.now)
            told = f"{len(admission.accepted)} of {len(ids)} queued."
            if admission.rejected:
                told += f" {len(admission.rejected)} rejected: {', '.join(admission.reasons)}."
            elif admission.accepted:
                job_queue.add(
                    connection,
                    job_queue.PROJECT,
                    "targets",
                    {"ids": ",".join(map(str, ids[:200])), "trigger": "MANUAL"},
                    priority=job_queue.NOW_PRIORITY,
                )
        else:
            raise HTTPException(400, "There is no such action.")
    return visit.back("/targets", told)
