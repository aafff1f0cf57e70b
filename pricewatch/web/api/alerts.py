"""Alerts, open and resolved."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

from pricewatch.store.views import alert_list
from pricewatch.web.api.common import ChangeContext, Limit, Page, ResponseModel, page_of
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

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
def find(context: Context, open_only: bool = False, before: Before = None, limit: Limit = 50) -> Any:
    with context.read() as connection:
        rows = alert_list.alerts(connection, open_only=open_only, before_id=before, most=limit + 1)
        return page_of(rows, limit)


@router.post("/{alert_id}/resolve", response_model=Resolved)
def resolve(context: ChangeContext, alert_id: Id) -> Any:
    with context.change("alert resolved", f"alert {alert_id}") as connection:
        if not alert_list.resolve(connection, alert_id, context.now):
            raise HTTPException(404, f"There is no open alert {alert_id}.")
    return {"id": alert_id, "resolved": True}
