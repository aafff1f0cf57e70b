"""Alerts: what is wrong, what was, and what to do about it."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.services.notifications import channels
from pricewatch.store.views import alert_list
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.request_context import AForm, AVisit
from pricewatch.web.runbooks import sections

router = APIRouter()
MOST = 50


@router.get("/alerts")
def found(visit: AVisit, before: Before = None) -> Response:
    with visit.read() as connection:
        rows = alert_list.alerts(connection, before_id=before, most=MOST + 1)
        return visit.render(
            connection,
            "alerts.html",
            open_alerts=alert_list.alerts(connection, open_only=True, most=200) if before is None else [],
            past=[row for row in rows[:MOST] if row["resolved_at"] is not None],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
            channels=sorted(channels()),
        )


@router.post("/alerts/{alert_id}/resolve")
def resolve(visit: AVisit, form: AForm, alert_id: Id) -> Response:
    with visit.change("alert resolved", f"alert {alert_id}") as connection:
        if not alert_list.resolve(connection, alert_id, visit.now):
            raise HTTPException(404, f"No alert {alert_id} is open.")
    return visit.back("/alerts", "Marked as over. If it is not, the next look raises it again.")


@router.get("/runbooks")
def runbooks(visit: AVisit) -> Response:
    with visit.read() as connection:
        return visit.render(connection, "runbooks.html", sections=sections())
