"""Adapters: their failure rates, and switching them off and on with a reason."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from sqlalchemy import Connection

from pricewatch.errors import UserError
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.operations import adapter_status
from pricewatch.store.source_registry import source_rows
from pricewatch.store.views import adapter_list, source_list
from pricewatch.web.form_fields import RENDER_CHOICES
from pricewatch.web.request_context import Context, PostedForm
from pricewatch.web.templating import with_query

router = APIRouter()


@router.get("/adapters")
def list_page(context: Context) -> Response:
    with context.read() as connection:
        return context.render(connection, "adapters.html", rows=adapter_list.adapters(connection))


@router.get("/adapters/{adapter_id:path}")
def detail_page(context: Context, adapter_id: str, source: str = "") -> Response:
    """Shows the batches of one source: the selected one, or the first."""
    with context.read() as connection:
        row = _find(adapter_list.adapters(connection), adapter_id)
        selected = next((each for each in row["by_source"] if each["source_id"] == source), None)
        if selected is None and row["by_source"]:
            selected = row["by_source"][0]
        batches = (
            adapter_list.batches(connection, adapter_id, selected["source_id"], most=200) if selected else []
        )
        return context.render(
            connection,
            "adapter.html",
            row=row,
            selected=selected,
            batches=batches,
            source=source_list.source(connection, selected["source_id"]) if selected else None,
            render_choices=RENDER_CHOICES,
        )


@router.post("/adapters/{adapter_id:path}/disable")
def disable(context: Context, form: PostedForm, adapter_id: str) -> Response:
    note = form.text("note", 500)
    if not note:
        raise UserError("Enter a reason for disabling the adapter.")
    reason = "TOS_VIOLATION" if form.flag("terms") else "MANUAL"
    source = form.text("source", 255)
    with context.change(
        "adapter disabled", adapter_id, source_id=source or None, reason=reason, note=note
    ) as connection:
        adapter_list.check_known(connection, adapter_id)
        source_id = _source(connection, source)
        changed = adapter_status.disable(
            connection, adapter_id, source_id, reason=reason, by=context.person, note=note, now=context.now
        )
    when, name = "now" if changed else "already", adapter_status.sentence_name(adapter_id, source_id)
    return context.redirect(_path(adapter_id, source), f"The {name} is {when} disabled.")


@router.post("/adapters/{adapter_id:path}/enable")
def enable(context: Context, form: PostedForm, adapter_id: str) -> Response:
    note = form.text("note", 500)
    if not note:
        raise UserError("Enter what was fixed.")
    source = form.text("source", 255)
    with context.change("adapter enabled", adapter_id, source_id=source or None, note=note) as connection:
        adapter_list.check_known(connection, adapter_id)
        source_id = _source(connection, source)
        adapter_status.enable(
            connection, adapter_id, source_id, by=context.person, note=note, now=context.now
        )
    name = adapter_status.sentence_name(adapter_id, source_id)
    return context.redirect(
        _path(adapter_id, source), f"The {name} is enabled. Its next run is marked as watched."
    )


def _source(connection: Connection, source: str) -> str:
    return source_rows.find(connection, source).id if source else EVERY_SOURCE


def _path(adapter_id: str, source: str) -> str:
    return with_query(f"/adapters/{quote(adapter_id)}", source=source)


def _find(rows: list[dict[str, Any]], adapter_id: str) -> dict[str, Any]:
    row = next((row for row in rows if row["adapter_id"] == adapter_id), None)
    if row is None:
        raise HTTPException(404, f"There is no adapter {adapter_id[:60]!r}.")
    return row
