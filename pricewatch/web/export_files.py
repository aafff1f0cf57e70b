"""Rows as CSV, JSON and Parquet files, written in chunks while they are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pricewatch.parsing.spreadsheet import escaped_cell

MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
CHUNK = 64 * 1024
# Parquet stores and compresses the rows of a group together.
ROWS_PER_GROUP = 2_500
# Numbers with decimals.
DECIMALS = ("area", "rooms")
Rows = Iterable[dict[str, Any]]


def as_csv(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escaped_cell(_text(row[name])) for name in columns])
        if buffer.tell() > CHUNK:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def as_json(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """One array with one row per line."""
    buffer, separator = io.BytesIO(), "[\n"
    for row in rows:
        values = {name: _json_value(row[name]) for name in columns}
        buffer.write(f"{separator}{json.dumps(values, ensure_ascii=False)}".encode())
        separator = ",\n"
        if buffer.tell() > CHUNK:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue() + (b"[]\n" if separator == "[\n" else b"\n]\n")


def as_parquet(columns: Sequence[str], rows: Rows) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    schema = _parquet_schema(columns)
    file, remaining = _WrittenBytes(), iter(rows)
    with parquet.ParquetWriter(file, schema) as writer:
        while group := list(islice(remaining, ROWS_PER_GROUP)):
            table = [
                {
                    name: float(row[name]) if name in DECIMALS and row[name] is not None else row[name]
                    for name in columns
                }
                for row in group
            ]
            writer.write_table(pyarrow.Table.from_pylist(table, schema))
            yield file.take()
    yield file.take()


def _parquet_schema(columns: Sequence[str]) -> Any:
    import pyarrow

    types: dict[str, Any] = {
        **dict.fromkeys(
            ("id", "price_cents", "price_max_cents", "unit_price_cents", "product_id", "times_seen"),
            pyarrow.int64(),
        ),
        **dict.fromkeys(("freshness_confidence", "price_confidence"), pyarrow.int64()),
        **dict.fromkeys(
            (
                "first_seen_at",
                "last_seen_at",
                "observed_at",
                "price_observed_at",
                "sold_at",
                "deactivated_at",
            ),
            pyarrow.timestamp("us", tz="UTC"),
        ),
        **dict.fromkeys(DECIMALS, pyarrow.float64()),
        "active": pyarrow.bool_(),
    }
    return pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in columns])


class _WrittenBytes(io.RawIOBase):
    """A file that keeps only what was written since the last `take`; Parquet is written from front to end."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        self._kept += data
        self._position += len(data)
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._kept)
        self._kept.clear()
        return taken


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else float(value)


def _text(value: Any) -> str:
    return "" if value is None else str(_json_value(value))


WRITERS: dict[str, Callable[[Sequence[str], Rows], Iterator[bytes]]] = {
    "csv": as_csv,
    "json": as_json,
    "parquet": as_parquet,
}
