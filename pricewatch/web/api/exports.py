"""Exports of the listings that consumers may see, streamed as CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import StreamingResponse

from pricewatch.parsing.spreadsheet import escaped_cell
from pricewatch.store.engine.database import engine
from pricewatch.store.views import public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.web.form_fields import Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/export", tags=["exports"], responses=responses(404, 501))
FileFormat = Literal["csv", "json", "parquet"]
MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
OK: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {kind: {} for kind in MEDIA_TYPES.values()}}
}
NO_PYARROW = "Parquet needs the package pyarrow on the server: pip install 'pyarrow>=26,<27'"
MOST_ROWS = 1_000_000
CHUNK = 64 * 1024
Filter = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
Rows = Iterable[dict[str, Any]]


@router.get("/listings.{form}", responses=OK, response_class=StreamingResponse)
def listings(
    context: Context,
    form: FileFormat,
    q: Filter = "",
    source: Filter = "",
    market: Filter = "",
    most: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100_000,
) -> StreamingResponse:
    filters = ListingFilter(title_query=q or None, source_id=source or None, market_id=market or None)

    def rows() -> Iterator[dict[str, Any]]:
        with engine().connect() as connection:
            yield from public_listings.all_listings(connection, filters, most)

    return _file(form, "listings", public_listings.COLUMNS, rows())


@router.get("/listings/{listing_id}/history.{form}", responses=OK, response_class=StreamingResponse)
def history(context: Context, listing_id: Id, form: FileFormat) -> StreamingResponse:
    with context.read() as connection:
        if public_listings.listing(connection, listing_id) is None:
            raise HTTPException(404, f"There is no visible listing {listing_id}.")
        rows = public_listings.history(connection, listing_id, most=100_000)
    return _file(form, f"listing-{listing_id}", public_listings.HISTORY_COLUMNS, rows)


def _file(form: str, name: str, columns: Sequence[str], rows: Rows) -> StreamingResponse:
    if form == "parquet" and find_spec("pyarrow") is None:
        raise HTTPException(501, NO_PYARROW)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return StreamingResponse(WRITERS[form](columns, rows), media_type=MEDIA_TYPES[form], headers=headers)


def _csv(columns: Sequence[str], rows: Rows) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escaped_cell(_text(row[name])) for name in columns])
        if buffer.tell() > CHUNK:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _json(columns: Sequence[str], rows: Rows) -> Iterator[str]:
    """One array with one row per line."""
    begin = "["
    for row in rows:
        values = {name: _json_value(row[name]) for name in columns}
        yield f"{begin}\n{json.dumps(values, ensure_ascii=False)}"
        begin = ","
    yield "[]\n" if begin == "[" else "\n]\n"


def _parquet(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    types: dict[str, Any] = {
        **dict.fromkeys(
            ("id", "price_cents", "price_max_cents", "product_id", "times_seen"),
            pyarrow.int64(),
        ),
        **dict.fromkeys(("freshness_confidence", "price_confidence"), pyarrow.int64()),
        **dict.fromkeys(
            ("first_seen_at", "last_seen_at", "observed_at", "price_observed_at"),
            pyarrow.timestamp("us", tz="UTC"),
        ),
        "area": pyarrow.float64(),
    }
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in columns])
    with tempfile.TemporaryFile() as file:
        with parquet.ParquetWriter(file, schema) as writer:
            for group in _groups(rows, 10_000):
                table = [
                    {
                        name: float(row[name]) if name == "area" and row[name] is not None else row[name]
                        for name in columns
                    }
                    for row in group
                ]
                writer.write_table(pyarrow.Table.from_pylist(table, schema))
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


def _groups(rows: Rows, size: int) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in rows:
        group.append(row)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else float(value)


def _text(value: Any) -> str:
    return "" if value is None else str(_json_value(value))


WRITERS: dict[str, Callable[[Sequence[str], Rows], Iterator[str] | Iterator[bytes]]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}
