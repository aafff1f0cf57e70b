"""Forms about a source: whether its pages are rendered, and where its price stands."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from sqlalchemy import Connection

from pricewatch.store.source_registry import price_places, source_hints
from pricewatch.store.views import source_list
from pricewatch.web.request_context import Context, PostedForm
from pricewatch.web.templating import with_query

router = APIRouter()


@router.post("/sources/{source_id}/render")
def render(context: Context, form: PostedForm, source_id: str) -> Response:
    choice = form.text("render", 20)
    with context.change("source: render", source_id, render=choice) as connection:
        path = _adapter_page(connection, source_id)
        source_hints.set_render(connection, source_id, choice)
    return context.redirect(path, f"Render of {source_id} is now {choice}.")


@router.post("/sources/{source_id}/forget-price-place")
def forget_price_place(context: Context, form: PostedForm, source_id: str) -> Response:
    with context.change("price place forgotten", source_id) as connection:
        path = _adapter_page(connection, source_id)
        price_places.forget(connection, source_id)
    return context.redirect(path, f"The place of the price on {source_id} is forgotten.")


def _adapter_page(connection: Connection, source_id: str) -> str:
    """Return the page that shows the source; there is one per adapter."""
    source = source_list.source(connection, source_id.replace("\x00", ""))
    if source is None:
        raise HTTPException(404, f"There is no source {source_id[:100]!r}.")
    return with_query(f"/adapters/{quote(source['adapter_id'])}", source=source_id)
