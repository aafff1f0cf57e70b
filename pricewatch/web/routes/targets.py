"""Targets: list, pause, resume, queue now and remove."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.money import Money
from pricewatch.store.models.target_tables import TARGET_STATUSES
from pricewatch.store.queues import job_queue, target_queue, target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.web.form_fields import TARGET_RENDER_CHOICES, After
from pricewatch.web.request_context import Context, PostedForm

router = APIRouter()
MOST = 100


@router.get("/targets")
def list_page(context: Context, status: str = "", q: str = "", after: After = 0) -> Response:
    text = q.replace("\x00", "").strip()[:200]
    filters = TargetFilter(status=status if status in TARGET_STATUSES else None, contains=text or None)
    with context.read() as connection:
        rows, more = target_rows.page(connection, filters, most=MOST, after=after)
        return context.render(
            connection,
            "targets.html",
            rows=[{**row, "price": Money.of(row["price_cents"], row["currency"])} for row in rows],
            more=more,
            filters={"status": status, "q": q},
            statuses=TARGET_STATUSES,
            render_choices=TARGET_RENDER_CHOICES,
        )


@router.post("/targets")
def act(context: Context, form: PostedForm) -> Response:
    ids, action = form.numbers("id"), form.text("action")
    if not ids:
        return context.redirect("/targets", "Choose at least one target.", good=False)
    subject = f"target {ids[0]}" if len(ids) == 1 else f"{len(ids)} targets"
    choice = {"render": form.text("render", 20)} if action == "render" else {}
    with context.change(f"targets: {action}", subject, ids=ids, **choice) as connection:
        if action == "pause":
            message = f"{target_rows.pause(connection, ids, context.now)} paused."
        elif action == "resume":
            message = f"{target_rows.resume(connection, ids, context.now)} resumed."
        elif action == "remove":
            message = f"{target_rows.remove(connection, ids)} removed; their price history is kept."
        elif action == "render":
            message = f"{target_rows.set_render(connection, ids, choice['render'], context.now)} changed."
        elif action == "requeue":
            admission = target_queue.enqueue(connection, ids, context.now)
            message = f"{len(admission.accepted)} of {len(ids)} queued."
            if admission.rejected:
                message += f" {len(admission.rejected)} rejected: {', '.join(admission.reasons)}."
            elif admission.accepted:
                job_queue.add(
                    connection,
                    job_queue.PROJECT,
                    "targets",
                    {"ids": ",".join(map(str, ids[:200])), "trigger": "MANUAL"},
                    priority=job_queue.MANUAL_PRIORITY,
                )
        else:
            raise HTTPException(400, "Unknown action. Known: pause, resume, requeue, render, remove.")
    return context.redirect("/targets", message)
