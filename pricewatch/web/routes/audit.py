"""The audit log: who changed what and when."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.store.people import audit_log
from pricewatch.web.form_fields import Before
from pricewatch.web.request_context import Context

router = APIRouter()
MOST = 100


@router.get("/audit")
def list_page(context: Context, before: Before = None) -> Response:
    with context.read() as connection:
        rows = audit_log.find_entries(connection, most=MOST + 1, before_id=before)
        more = rows[MOST - 1]["id"] if len(rows) > MOST else None
        return context.render(connection, "audit.html", rows=rows[:MOST], more=more)
