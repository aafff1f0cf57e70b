"""Alerts, open and over."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from pricewatch.store.views import alert_list
from pricewatch.web.api.common import AChange, Limit, Page, ResponseModel, page_of
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import AVisit

router = APIRouter(prefix="/api/alerts", tags=["alerts"], responses=responses(404))


class AlertResponse(ResponseModel):
    id: int
    kind: str
    severity: Literal["P1", "P2", "P3"]
    subject: str
    message: str
    details: dict[str, Any]
    count: int
    first_at: datetime
    last_at: datetime
    notified_at: datetime | None
    resolved_at: datetime | None
    runbook: str


class Resolved(BaseModel):
    id: int
    resolved: bool


@router.get("", response_model=Page[AlertResponse])
def find(visit: AVisit, open_only: bool = False, before: Before = None, limit: Limit = 50) -> Any:
    with visit.read() as connection:
        rows = alert_list.alerts(connection, open_only=open_only, before_id=before, most=limit + 1)
        return page_of(rows, limit)


@router.post("/{alert_id}/resolve", response_model=Resolved)
def resolve(visit: AChange, alert_id: Id) -> Any:
    with visit.change("alert resolved", f"alert {alert_id}") as connection:
        if not alert_list.resolve(connection, alert_id, visit.now):
            raise HTTPException(404, f"No alert {alert_id} is open.")
    return {"id": alert_id, "resolved": True}
