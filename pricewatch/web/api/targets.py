"""Targets: listed, added, paused, resumed, removed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from scrapy.utils.project import get_project_settings

from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.services import target_import
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import Wanted
from pricewatch.web.api.common import AChange, Limit, Page, ResponseModel, Sentence, Word
from pricewatch.web.form_fields import After, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import AVisit

router = APIRouter(prefix="/api/targets", tags=["targets"], responses=responses(404, 409))
Status = Literal["ACTIVE", "PAUSED", "BROKEN", "STALE"]


class TargetResponse(ResponseModel):
    id: int
    source_id: str
    adapter_id: str
    listing_id: int | None
    url: str
    canonical_url: str
    selectors: dict[str, Any]
    schedule: str
    priority: int
    status: Status
    queue_state: str
    next_due_at: datetime | None
    last_scraped_at: datetime | None
    last_status: str | None
    last_reason: str | None
    consecutive_failures: int
    missing_since: datetime | None
    title: str | None
    price_cents: int | None
    currency: str | None
    availability: str | None
    notes: str | None


class Selectors(BaseModel):
    model_config = ConfigDict(extra="forbid")

    price: Word | None = None
    title: Word | None = None
    availability: Word | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class NewTargetRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00]*$")]
    schedule: Word = DEFAULT_SCHEDULE
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    adapter: Word | None = None
    selectors: Selectors = Selectors()
    notes: Sentence | None = None


class Done(BaseModel):
    changed: int


@router.get("", response_model=Page[TargetResponse])
def find(
    visit: AVisit,
    status: Status | None = None,
    source_id: Annotated[Word | None, Query()] = None,
    after: After = 0,
    limit: Limit = 50,
) -> Any:
    with visit.read() as connection:
        wanted = Wanted(status=status, source_id=source_id)
        rows, following = target_rows.page(connection, wanted, most=limit, after=after)
    return {"items": rows, "next": following}


@router.post(
    "",
    response_model=TargetResponse,
    status_code=201,
    responses={200: {"model": TargetResponse, "description": "Watched already, and changed"}},
)
def add(visit: AChange, given: NewTargetRequest, response: Response) -> Any:
    """A page that is watched already takes over what is given; with nothing new it is refused with 409."""
    values = {name: str(value) for name, value in given.selectors if value is not None}
    chosen = {"schedule": given.schedule, "priority": str(given.priority)}
    values |= {"url": given.url, **{name: chosen[name] for name in chosen if name in given.model_fields_set}}
    values |= {"adapter": given.adapter or "", "notes": given.notes or ""}
    with visit.change("target added", given.url[:500]) as connection:
        private = get_project_settings().getlist("ALLOWED_PRIVATE_HOSTS")
        new = target_import.check(values, target_import.allowed_hosts(connection, private))
        added = target_rows.add(connection, [new], visit.now, visit.person)
        if added.ids:
            return _one(connection, added.ids[0])
        target_id = target_rows.find_url(connection, new.url)
        if not added.updated or target_id is None:
            raise HTTPException(409, "A target watches this page already.")
        response.status_code = 200
        return _one(connection, target_id)


@router.get("/{target_id}", response_model=TargetResponse)
def one(visit: AVisit, target_id: Id) -> Any:
    with visit.read() as connection:
        return _one(connection, target_id)


@router.post("/{target_id}/pause", response_model=Done)
def pause(visit: AChange, target_id: Id) -> Any:
    with visit.change("targets: pause", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.pause(connection, [target_id], visit.now)}


@router.post("/{target_id}/resume", response_model=Done)
def resume(visit: AChange, target_id: Id) -> Any:
    with visit.change("targets: resume", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.resume(connection, [target_id], visit.now)}


@router.delete("/{target_id}", response_model=Done)
def remove(visit: AChange, target_id: Id) -> Any:
    """Its listing and history stay."""
    with visit.change("targets: remove", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.remove(connection, [target_id])}


def _one(connection: Any, target_id: int) -> dict[str, Any]:
    rows = target_rows.listed(connection, Wanted(ids=[target_id]), most=1)
    if not rows:
        raise HTTPException(404, f"There is no target {target_id}.")
    return rows[0]
