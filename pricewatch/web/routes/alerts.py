"""Alerts, open and past, and the runbooks that say what to do about them."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.services.notifications import channels
from pricewatch.store.views import alert_list
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.request_context import Context, PostedForm
from pricewatch.web.runbooks import sections

router = APIRouter()
MOST = 50


@router.get("/alerts")
def list_page(context: Context, before: Before = None) -> Response:
    with context.read() as connection:
        rows = alert_list.alerts(connection, before_id=before, most=MOST + 1)
        return context.render(
            connection,
            "alerts.html",
            open_alerts=alert_list.alerts(connection, open_only=True, most=200) if before is None else [],
            past=[row for row in rows[:MOST] if row["resolved_at"] is not None],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
            channels=sorted(channels()),
        )


@router.post("/alerts/{alert_id}/resolve")
def resolve(context: Context, form: PostedForm, alert_id: Id) -> Response:
    with context.change("alert resolved", f"alert {alert_id}") as connection:
        if not alert_list.resolve(connection, alert_id, context.now):
            raise HTTPException(404, f"There is no open alert {alert_id}.")
    return context.redirect(
        "/alerts", "Resolved. If the problem persists, the next check raises the alert again."
    )


@router.get("/runbooks")
def runbooks(context: Context) -> Response:
    with context.read() as connection:
        return context.render(connection, "runbooks.html", sections=sections())
