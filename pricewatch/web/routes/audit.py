"""Who changed what."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.store.people import audit_log
from pricewatch.web.form_fields import Before
from pricewatch.web.request_context import AVisit

router = APIRouter()
MOST = 100


@router.get("/audit")
def found(visit: AVisit, before: Before = None) -> Response:
    with visit.read() as connection:
        rows = audit_log.listed(connection, most=MOST + 1, before_id=before)
        more = rows[MOST - 1]["id"] if len(rows) > MOST else None
        return visit.render(connection, "audit.html", rows=rows[:MOST], more=more)
