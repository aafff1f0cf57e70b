"""Adapters: how they fare, and switching them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, StringConstraints

from pricewatch import adapters
from pricewatch.store import adapter_list, drift
from pricewatch.web.api.common import AChange, Name, Row
from pricewatch.web.problems import responses
from pricewatch.web.visit import AVisit

router = APIRouter(prefix="/api/adapters", tags=["adapters"], responses=responses(404))
Why = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


class Adapter(Row):
    adapter_id: str
    version: str | None
    domain: str | None
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    disabled_by: str | None
    note: str | None
    watch_next_run: bool
    baseline_failure_rate: Decimal | None
    baseline_yield_rate: Decimal | None
    baseline_sample_size: int
    last_batch_failure_rate: Decimal | None
    sources: list[str]


class Disable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Why
    reason: Literal["MANUAL", "TOS_VIOLATION"] = "MANUAL"


class Enable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Why


@router.get("", response_model=list[Adapter])
def listed(visit: AVisit) -> Any:
    with visit.read() as connection:
        return adapter_list.adapters(connection)


@router.post("/{adapter_id}/disable", response_model=Adapter)
def disable(visit: AChange, adapter_id: Name, given: Disable) -> Any:
    _check(adapter_id)
    with visit.change("adapter disabled", adapter_id, note=given.note) as connection:
        drift.disable(
            connection, adapter_id, reason=given.reason, by=visit.person, note=given.note, now=visit.now
        )
        return _one(connection, adapter_id)


@router.post("/{adapter_id}/enable", response_model=Adapter)
def enable(visit: AChange, adapter_id: Name, given: Enable) -> Any:
    _check(adapter_id)
    with visit.change("adapter enabled", adapter_id, note=given.note) as connection:
        drift.enable(connection, adapter_id, by=visit.person, note=given.note, now=visit.now)
        return _one(connection, adapter_id)


def _check(adapter_id: str) -> None:
    if adapter_id not in adapters.known():
        raise HTTPException(404, f"There is no adapter {adapter_id!r}.")


def _one(connection: Any, adapter_id: str) -> dict[str, Any]:
    return next(row for row in adapter_list.adapters(connection) if row["adapter_id"] == adapter_id)
