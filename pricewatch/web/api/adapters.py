"""Adapters: their failure rates, and switching them off and on."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, ConfigDict, StringConstraints

from pricewatch.adapters import UnknownAdapter
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.operations import adapter_status
from pricewatch.store.source_registry import source_rows
from pricewatch.store.views import adapter_list
from pricewatch.web.api.common import ChangeContext, Name, ResponseModel
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/adapters", tags=["adapters"], responses=responses(404))
# The ID of an adapter, or of a custom spider, whose name may contain a slash.
AdapterId = Annotated[str, Path(min_length=1, max_length=120, pattern=r"^[^\x00]*$")]
Note = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


class AdapterSwitch(ResponseModel):
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    disabled_by: str | None
    note: str | None
    watch_next_run: bool


class AdapterOnSource(AdapterSwitch):
    """The switch and the failure rates of an adapter on one source."""

    source_id: str
    baseline_failure_rate: Decimal | None
    baseline_yield_rate: Decimal | None
    baseline_sample_size: int
    last_batch_failure_rate: Decimal | None
    consecutive_failed_batches: int


class AdapterResponse(AdapterSwitch):
    """An adapter with its switch for every source, and its state on each source."""

    adapter_id: str
    # The name of a custom spider, whose adapter_id is `spider:NAME`; null for adapters.
    spider: str | None
    version: str | None
    domain: str | None
    sources: list[str]
    by_source: list[AdapterOnSource]


class Disable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Note
    reason: Literal["MANUAL", "TOS_VIOLATION"] = "MANUAL"
    # Without a source, the adapter is disabled for every source.
    source_id: Name | None = None


class Enable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Note
    source_id: Name | None = None


@router.get("", response_model=list[AdapterResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return adapter_list.adapters(connection)


@router.post("/{adapter_id:path}/disable", response_model=AdapterResponse)
def disable(context: ChangeContext, adapter_id: AdapterId, body: Disable) -> Any:
    with context.change(
        "adapter disabled", adapter_id, source_id=body.source_id, note=body.note
    ) as connection:
        _check(connection, adapter_id)
        source_id = _source(connection, body.source_id)
        details = {"reason": body.reason, "by": context.person, "note": body.note}
        adapter_status.disable(connection, adapter_id, source_id, now=context.now, **details)
        return _one(connection, adapter_id)


@router.post("/{adapter_id:path}/enable", response_model=AdapterResponse)
def enable(context: ChangeContext, adapter_id: AdapterId, body: Enable) -> Any:
    with context.change(
        "adapter enabled", adapter_id, source_id=body.source_id, note=body.note
    ) as connection:
        _check(connection, adapter_id)
        source_id = _source(connection, body.source_id)
        adapter_status.enable(
            connection, adapter_id, source_id, by=context.person, note=body.note, now=context.now
        )
        return _one(connection, adapter_id)


def _check(connection: Any, adapter_id: str) -> None:
    try:
        adapter_list.check_known(connection, adapter_id)
    except UnknownAdapter as error:
        raise HTTPException(404, str(error)) from None


def _source(connection: Any, source_id: str | None) -> str:
    if source_id is None:
        return EVERY_SOURCE
    return source_rows.find(connection, source_id).id


def _one(connection: Any, adapter_id: str) -> dict[str, Any]:
    return next(row for row in adapter_list.adapters(connection) if row["adapter_id"] == adapter_id)
