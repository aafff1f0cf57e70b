"""Exports of listings, streamed as CSV, JSON and Parquet: what consumers may see, or all for operators."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from pricewatch.store.engine.database import engine
from pricewatch.store.views import public_listings
from pricewatch.vocabulary import AccessRole
from pricewatch.web.export_files import MEDIA_TYPES, WRITERS, Rows
from pricewatch.web.export_response import ExportResponse
from pricewatch.web.form_fields import Id
from pricewatch.web.hosts import is_linked_from_here
from pricewatch.web.listing_query import FilterOfQuery
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context


def refuse_other_sites(request: Request) -> None:
    """An export is costly: a page of another site must not start one with the session of a user."""
    if not is_linked_from_here(request.headers):
        raise HTTPException(
            403, "Exports cannot be requested by pages of other sites: open the address itself."
        )


router = APIRouter(
    prefix="/api/export",
    tags=["exports"],
    responses=responses(404, 501),
    dependencies=[Depends(refuse_other_sites)],
)
FileFormat = Literal["csv", "json", "parquet"]
OK: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {kind: {} for kind in MEDIA_TYPES.values()}}
}
NO_PYARROW = "Parquet needs the package pyarrow on the server: pip install 'pyarrow>=26,<27'"
MOST_ROWS = 1_000_000
MOST_HISTORY = 100_000
_SCOPE = "`all`: also listings that are sold, gone or not visible; needs the role operate"


@router.get("/listings.{form}", responses=OK, response_class=ExportResponse)
def listings(
    context: Context,
    form: FileFormat,
    filter_: FilterOfQuery,
    scope: Annotated[Literal["visible", "all"], Query(description=_SCOPE)] = "visible",
    most: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100_000,
) -> ExportResponse:
    """The filters are those of `/api/listings`."""
    if scope == "visible":
        rows = public_listings.all_listings(engine().connect, filter_, most)
        return _file(form, "listings", public_listings.COLUMNS, rows)
    context.require(AccessRole.OPERATE)
    rows = public_listings.all_listings(engine().connect, filter_, most, everything_at=context.now)
    return _file(form, "listings", public_listings.ALL_COLUMNS, rows)


@router.get("/listings/{listing_id}/history.{form}", responses=OK, response_class=ExportResponse)
def history(context: Context, listing_id: Id, form: FileFormat) -> ExportResponse:
    """Operators get the history of every listing."""
    is_operator = context.auth_result.may(AccessRole.OPERATE)
    with context.read() as connection:
        if not public_listings.has_listing(connection, listing_id, only_visible=not is_operator):
            raise HTTPException(404, f"There is no visible listing {listing_id}.")
    rows = public_listings.all_history(
        engine().connect, listing_id, MOST_HISTORY, only_visible=not is_operator
    )
    return _file(form, f"listing-{listing_id}", public_listings.HISTORY_COLUMNS, rows)


def _file(form: str, name: str, columns: Sequence[str], rows: Rows) -> ExportResponse:
    if form == "parquet" and find_spec("pyarrow") is None:
        raise HTTPException(501, NO_PYARROW)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return ExportResponse(WRITERS[form](columns, rows), media_type=MEDIA_TYPES[form], headers=headers)
