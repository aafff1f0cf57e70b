"""Adapters: how each fares, switched off and on by a person with a reason."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from sqlalchemy import Connection

from pricewatch.errors import UserError
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.views import adapter_list
from pricewatch.store.writing import adapter_status, source_rows
from pricewatch.web.request_context import AForm, AVisit
from pricewatch.web.templating import with_query

router = APIRouter()


@router.get("/adapters")
def found(visit: AVisit) -> Response:
    with visit.read() as connection:
        return visit.render(connection, "adapters.html", rows=adapter_list.adapters(connection))


@router.get("/adapters/{adapter_id:path}")
def one(visit: AVisit, adapter_id: str, source: str = "") -> Response:
    """With the batches of one source: the one asked for, or the first."""
    with visit.read() as connection:
        row = _known(adapter_list.adapters(connection), adapter_id)
        shown = next((each for each in row["by_source"] if each["source_id"] == source), None)
        if shown is None and row["by_source"]:
            shown = row["by_source"][0]
        batches = adapter_list.batches(connection, adapter_id, shown["source_id"], most=200) if shown else []
        return visit.render(connection, "adapter.html", row=row, shown=shown, batches=batches)


@router.post("/adapters/{adapter_id:path}/disable")
def disable(visit: AVisit, form: AForm, adapter_id: str) -> Response:
    note = form.text("note", 500)
    if not note:
        raise UserError("Say why it is disabled, for whoever finds it so.")
    reason = "TOS_VIOLATION" if form.flag("terms") else "MANUAL"
    source = form.text("source", 255)
    with visit.change(
        "adapter disabled", adapter_id, source_id=source or None, reason=reason, note=note
    ) as connection:
        adapter_list.check(connection, adapter_id)
        source_id = _source(connection, source)
        by = visit.person
        done = adapter_status.disable(
            connection, adapter_id, source_id, reason=reason, by=by, note=note, now=visit.now
        )
    how, whose = "now" if done else "already", adapter_status.named(adapter_id, source_id)
    return visit.back(_path(adapter_id, source), f"The {whose} is {how} disabled.")


@router.post("/adapters/{adapter_id:path}/enable")
def enable(visit: AVisit, form: AForm, adapter_id: str) -> Response:
    note = form.text("note", 500)
    if not note:
        raise UserError("Say what was done about it.")
    source = form.text("source", 255)
    with visit.change("adapter enabled", adapter_id, source_id=source or None, note=note) as connection:
        adapter_list.check(connection, adapter_id)
        source_id = _source(connection, source)
        adapter_status.enable(connection, adapter_id, source_id, by=visit.person, note=note, now=visit.now)
    whose = adapter_status.named(adapter_id, source_id)
    return visit.back(_path(adapter_id, source), f"The {whose} is enabled; its next run is watched.")


def _source(connection: Connection, given: str) -> str:
    return source_rows.find(connection, given).id if given else EVERY_SOURCE


def _path(adapter_id: str, source: str) -> str:
    return with_query(f"/adapters/{quote(adapter_id)}", source=source)


def _known(rows: list[dict[str, Any]], adapter_id: str) -> dict[str, Any]:
    row = next((row for row in rows if row["adapter_id"] == adapter_id), None)
    if row is None:
        raise HTTPException(404, f"There is no adapter {adapter_id[:60]!r}.")
    return row
