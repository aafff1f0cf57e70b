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
def list_page(context: Context, person: str = "", action: str = "", before: Before = None) -> Response:
    with context.read() as connection:
        rows = audit_log.find_entries(
            connection,
            most=MOST + 1,
            before_id=before,
            person=person.replace("\x00", "") or None,
            action=action.replace("\x00", "") or None,
        )
        return context.render(
            connection,
            "audit.html",
            rows=rows[:MOST],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
            filters={"person": person, "action": action},
            people=audit_log.find_people(connection),
            actions=audit_log.find_actions(connection),
        )
