"""Adapters: how they fare, and switching them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, ConfigDict, StringConstraints

from pricewatch.adapters import UnknownAdapter
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.views import adapter_list
from pricewatch.store.writing import adapter_status, source_rows
from pricewatch.web.api.common import AChange, Name, ResponseModel
from pricewatch.web.problems import responses
from pricewatch.web.request_context import AVisit

router = APIRouter(prefix="/api/adapters", tags=["adapters"], responses=responses(404))
# The name of a spider may have a slash in it.
Reader = Annotated[str, Path(min_length=1, max_length=120, pattern=r"^[^\x00]*$")]
Why = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


class Switch(ResponseModel):
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    disabled_by: str | None
    note: str | None
    watch_next_run: bool


class OnSource(Switch):
    """How an adapter fares on one source."""

    source_id: str
    baseline_failure_rate: Decimal | None
    baseline_yield_rate: Decimal | None
    baseline_sample_size: int
    last_batch_failure_rate: Decimal | None
    consecutive_failed_batches: int


class AdapterResponse(Switch):
    """An adapter with its own switch, which counts for every source, and how it fares on each."""

    adapter_id: str
    # The name of a spider that reads its pages itself, as `spider:NAME`; null for adapters.
    spider: str | None
    version: str | None
    domain: str | None
    sources: list[str]
    by_source: list[OnSource]


class Disable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Why
    reason: Literal["MANUAL", "TOS_VIOLATION"] = "MANUAL"
    # Only for this source; for every one where it is left out.
    source_id: Name | None = None


class Enable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Why
    source_id: Name | None = None


@router.get("", response_model=list[AdapterResponse])
def listed(visit: AVisit) -> Any:
    with visit.read() as connection:
        return adapter_list.adapters(connection)


@router.post("/{adapter_id:path}/disable", response_model=AdapterResponse)
def disable(visit: AChange, adapter_id: Reader, given: Disable) -> Any:
    with visit.change(
        "adapter disabled", adapter_id, source_id=given.source_id, note=given.note
    ) as connection:
        _check(connection, adapter_id)
        source_id = _source(connection, given.source_id)
        how = {"reason": given.reason, "by": visit.person, "note": given.note}
        adapter_status.disable(connection, adapter_id, source_id, now=visit.now, **how)
        return _one(connection, adapter_id)


@router.post("/{adapter_id:path}/enable", response_model=AdapterResponse)
def enable(visit: AChange, adapter_id: Reader, given: Enable) -> Any:
    with visit.change(
        "adapter enabled", adapter_id, source_id=given.source_id, note=given.note
    ) as connection:
        _check(connection, adapter_id)
        source_id = _source(connection, given.source_id)
        adapter_status.enable(
            connection, adapter_id, source_id, by=visit.person, note=given.note, now=visit.now
        )
        return _one(connection, adapter_id)


def _check(connection: Any, adapter_id: str) -> None:
    try:
        adapter_list.check(connection, adapter_id)
    except UnknownAdapter as error:
        raise HTTPException(404, str(error)) from None


def _source(connection: Any, source_id: str | None) -> str:
    if source_id is None:
        return EVERY_SOURCE
    return source_rows.find(connection, source_id).id


def _one(connection: Any, adapter_id: str) -> dict[str, Any]:
    return next(row for row in adapter_list.adapters(connection) if row["adapter_id"] == adapter_id)
