"""Sources: how their pages are fetched and read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict

from pricewatch.store.source_registry import price_places, source_hints
from pricewatch.store.views import source_list
from pricewatch.web.api.common import ChangeContext, Name, ResponseModel
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/sources", tags=["sources"], responses=responses(404))
RenderChoice = Literal["auto", "never", "always"]


class SourceResponse(ResponseModel):
    """A source; `needs_browser` and `price_place` are learned from its pages."""

    id: str
    name: str
    domain: str
    base_url: str
    adapter_id: str
    visibility: str
    tos_approved_by: str | None
    tos_reviewed_at: datetime | None
    render: RenderChoice
    needs_browser: bool
    price_place: str | None
    price_place_seen: int
    price_place_at: datetime | None
    price_place_by: str | None


class RenderRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    render: RenderChoice


@router.get("", response_model=list[SourceResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return source_list.sources(connection)


@router.post("/{source_id}/render", response_model=SourceResponse)
def render(context: ChangeContext, source_id: Name, body: RenderRequest) -> Any:
    """Choose whether pages are fetched with the browser; what was learned about it is forgotten."""
    with context.change("source: render", source_id, render=body.render) as connection:
        _one(connection, source_id)
        source_hints.set_render(connection, source_id, body.render)
        return _one(connection, source_id)


@router.delete("/{source_id}/price-place", response_model=SourceResponse)
def forget_price_place(context: ChangeContext, source_id: Name) -> Any:
    """Forget where the price stands on the pages of a source; pages teach it again."""
    with context.change("price place forgotten", source_id) as connection:
        _one(connection, source_id)
        price_places.forget(connection, source_id)
        return _one(connection, source_id)


def _one(connection: Any, source_id: str) -> dict[str, Any]:
    source = source_list.source(connection, source_id)
    if source is None:
        raise HTTPException(404, f"There is no source {source_id!r}.")
    return source
