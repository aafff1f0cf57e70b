"""Targets: list, add, pause, resume and remove."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from scrapy.utils.project import get_project_settings

from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.services import target_import
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.web.api.common import ChangeContext, Limit, LongText, Page, ResponseModel, ShortText
from pricewatch.web.api.sources import RenderChoice
from pricewatch.web.form_fields import After, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/targets", tags=["targets"], responses=responses(404, 409))
TargetRenderChoice = Literal["auto", "never", "always", "inherit"]
Status = Literal["ACTIVE", "PAUSED", "BROKEN", "STALE"]


class TargetResponse(ResponseModel):
    id: int
    source_id: str
    adapter_id: str
    listing_id: int | None
    url: str
    canonical_url: str
    selectors: dict[str, Any]
    # Null: as the source.
    render: RenderChoice | None
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

    price: ShortText | None = None
    title: ShortText | None = None
    availability: ShortText | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class NewTargetRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00]*$")]
    schedule: ShortText = DEFAULT_SCHEDULE
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    adapter: ShortText | None = None
    render: TargetRenderChoice | None = None
    selectors: Selectors = Selectors()
    notes: LongText | None = None


class TargetRenderRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    render: TargetRenderChoice


class ChangeCount(BaseModel):
    changed: int


@router.get("", response_model=Page[TargetResponse])
def find(
    context: Context,
    status: Status | None = None,
    source_id: Annotated[ShortText | None, Query()] = None,
    after: After = 0,
    limit: Limit = 50,
) -> Any:
    with context.read() as connection:
        filters = TargetFilter(status=status, source_id=source_id)
        rows, following = target_rows.page(connection, filters, most=limit, after=after)
    return {"items": rows, "next": following}


@router.post(
    "",
    response_model=TargetResponse,
    status_code=201,
    responses={
        200: {"model": TargetResponse, "description": "A target for this page already exists and was updated"}
    },
)
def add(context: ChangeContext, body: NewTargetRequest, response: Response) -> Any:
    """Add a target, or update the target of this page; without a change the status is 409."""
    values = {name: str(value) for name, value in body.selectors if value is not None}
    optional = {"schedule": body.schedule, "priority": str(body.priority)}
    values |= {
        "url": body.url,
        **{name: optional[name] for name in optional if name in body.model_fields_set},
    }
    values |= {"adapter": body.adapter or "", "render": body.render or "", "notes": body.notes or ""}
    with context.change("target added", body.url[:500]) as connection:
        private = get_project_settings().getlist("ALLOWED_PRIVATE_HOSTS")
        new = target_import.check(values, target_import.allowed_hosts(connection, private))
        added = target_rows.add(connection, [new], context.now, context.person)
        if added.ids:
            return _one(connection, added.ids[0])
        target_id = target_rows.find_url(connection, new.url)
        if not added.updated or target_id is None:
            raise HTTPException(409, "A target already exists for this page.")
        response.status_code = 200
        return _one(connection, target_id)


@router.get("/{target_id}", response_model=TargetResponse)
def one(context: Context, target_id: Id) -> Any:
    with context.read() as connection:
        return _one(connection, target_id)


@router.post("/{target_id}/pause", response_model=ChangeCount)
def pause(context: ChangeContext, target_id: Id) -> Any:
    with context.change("targets: pause", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.pause(connection, [target_id], context.now)}


@router.post("/{target_id}/resume", response_model=ChangeCount)
def resume(context: ChangeContext, target_id: Id) -> Any:
    with context.change("targets: resume", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.resume(connection, [target_id], context.now)}


@router.post("/{target_id}/render", response_model=ChangeCount)
def render(context: ChangeContext, target_id: Id, body: TargetRenderRequest) -> Any:
    """Choose whether the page is fetched with the browser; `inherit` uses the choice of its source."""
    with context.change("targets: render", f"target {target_id}", render=body.render) as connection:
        _one(connection, target_id)
        return {"changed": target_rows.set_render(connection, [target_id], body.render, context.now)}


@router.delete("/{target_id}", response_model=ChangeCount)
def remove(context: ChangeContext, target_id: Id) -> Any:
    """Remove a target; its listing and price history are kept."""
    with context.change("targets: remove", f"target {target_id}") as connection:
        _one(connection, target_id)
        return {"changed": target_rows.remove(connection, [target_id])}


def _one(connection: Any, target_id: int) -> dict[str, Any]:
    rows = target_rows.find_rows(connection, TargetFilter(ids=[target_id]), most=1)
    if not rows:
        raise HTTPException(404, f"There is no target {target_id}.")
    return rows[0]
