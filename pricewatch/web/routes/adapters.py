"""Adapters: how each fares, switched off and on by a person with a reason."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch import adapters
from pricewatch.errors import UserError
from pricewatch.store import adapter_list, drift
from pricewatch.web.visit import AForm, AVisit

router = APIRouter()


@router.get("/adapters")
def found(visit: AVisit) -> Response:
    with visit.read() as connection:
        rows = adapter_list.adapters(connection)
        batches = {
            row["adapter_id"]: adapter_list.batches(connection, row["adapter_id"], most=60) for row in rows
        }
        return visit.render(connection, "adapters.html", rows=rows, batches=batches)


@router.get("/adapters/{adapter_id}")
def one(visit: AVisit, adapter_id: str) -> Response:
    with visit.read() as connection:
        row = _known(adapter_list.adapters(connection), adapter_id)
        batches = adapter_list.batches(connection, adapter_id, most=200)
        return visit.render(connection, "adapter.html", row=row, batches=batches)


@router.post("/adapters/{adapter_id}/disable")
def disable(visit: AVisit, form: AForm, adapter_id: str) -> Response:
    adapters.get(adapter_id)
    note = form.text("note", 500)
    if not note:
        raise UserError("Say why it is disabled, for whoever finds it so.")
    reason = "TOS_VIOLATION" if form.flag("terms") else "MANUAL"
    with visit.change("adapter disabled", adapter_id, reason=reason, note=note) as connection:
        done = drift.disable(connection, adapter_id, reason=reason, by=visit.person, note=note, now=visit.now)
    how = "now" if done else "already"
    return visit.back(f"/adapters/{adapter_id}", f"The adapter {adapter_id} is {how} disabled.")


@router.post("/adapters/{adapter_id}/enable")
def enable(visit: AVisit, form: AForm, adapter_id: str) -> Response:
    adapters.get(adapter_id)
    note = form.text("note", 500)
    if not note:
        raise UserError("Say what was done about it.")
    with visit.change("adapter enabled", adapter_id, note=note) as connection:
        drift.enable(connection, adapter_id, by=visit.person, note=note, now=visit.now)
    return visit.back(
        f"/adapters/{adapter_id}", f"The adapter {adapter_id} is enabled; its next run is watched."
    )


def _known(rows: list[dict[str, Any]], adapter_id: str) -> dict[str, Any]:
    row = next((row for row in rows if row["adapter_id"] == adapter_id), None)
    if row is None:
        raise HTTPException(404, f"There is no adapter {adapter_id[:60]!r}.")
    return row
