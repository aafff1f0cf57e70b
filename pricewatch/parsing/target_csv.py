"""Reading a CSV file of URLs in any common encoding, with any common separator.

Each line gives its values or a problem; a bad line does not affect its neighbours.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

COLUMNS = (
    "url",
    "schedule",
    "priority",
    "adapter",
    "render",
    "price",
    "title",
    "availability",
    "currency",
    "notes",
)
SEPARATORS = (";", "\t", ",", "|")
MAX_LINE_LENGTH = 8_000
# Limit for line breaks in a quoted cell.
MAX_LINES_PER_CELL = 10
_SELECTOR_SUFFIX = re.compile(r"[ _-]?selector$")
# Such a line starts a new record even within an open quote.
_STARTS_WITH_URL = re.compile(r'\s*"?https?://', re.IGNORECASE)
# More cells in a line without a header; a single separator may be part of a URL.
_MORE_CELLS = re.compile(r"[\s|]|[;,]{2}|[;,]$")
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class CsvLine:
    """One record of the file; `number` is the number of its first line."""

    number: int
    values: dict[str, str] = field(default_factory=dict)
    problem: str | None = None


@dataclass(slots=True)
class CsvFile:
    lines: list[CsvLine] = field(default_factory=list)
    # Remarks about the whole file.
    notices: list[str] = field(default_factory=list)


def decode(data: bytes) -> str:
    """Decode a file by its byte order mark, or else as UTF-8, or else as Windows-1252."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # Some programs write the byte order mark twice.
            return data.decode(encoding, "replace").lstrip("\ufeff")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_csv(data: bytes) -> CsvFile:
    """Read a file with a header that has a column `url`, or a file with one URL per line."""
    found = CsvFile()
    records = _records(re.split(r"\r\n|\n|\r", decode(data)))
    separator: str | None = None
    columns: list[str] | None = None
    for number, record, problem in records:
        if separator is None and record.lower().startswith("sep=") and len(record) == 5:
            separator = record[4]
            continue
        if columns is None and problem is None:
            separator = separator or _separator(record)
            columns = _header(_cells(record, separator)) or []
            if columns:
                unknown = sorted(set(columns) - {*COLUMNS, ""})
                if unknown:
                    found.notices.append(f"unknown columns are ignored: {', '.join(unknown)}")
                continue
            if _STARTS_WITH_URL.match(record) or separator not in record:
                # This is not a header: the separator is part of the URL.
                separator = ""
        found.lines.append(_line(number, record, problem, columns or [], separator or ""))
    return found


def _line(number: int, record: str, problem: str | None, columns: list[str], separator: str) -> CsvLine:
    if problem is not None:
        return CsvLine(number, {"url": record[:200]}, problem)
    if not columns:
        url = record.strip().strip('"').strip()
        if _MORE_CELLS.search(url) or (separator and separator in url):
            problem = "it has more than a URL, and there is no header with a column `url`"
        return CsvLine(number, {"url": url[:200] if problem else url}, problem)
    try:
        cells = _cells(record, separator)
    except csv.Error as error:
        return CsvLine(number, {"url": record[:200]}, f"it is not valid CSV ({error})")
    if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
        problem = f"it has {len(cells)} cells, the header has {len(columns)}: is a {separator!r} not quoted?"
    values = {
        column: cell.strip()
        for column, cell in zip(columns, cells, strict=False)
        if column in COLUMNS and cell.strip()
    }
    return CsvLine(number, values, problem)


def _records(lines: list[str]) -> Iterator[tuple[int, str, str | None]]:
    """Yield (number of the first line, text, problem); joins the lines of a quoted cell."""
    position = 0
    while position < len(lines):
        number, record = position + 1, lines[position]
        position += 1
        if not record.strip():
            continue
        if len(record) > MAX_LINE_LENGTH:
            yield number, record, f"it is longer than {MAX_LINE_LENGTH} characters"
            continue
        if record.count('"') % 2:
            joined, end = record, position
            last = min(len(lines), position + MAX_LINES_PER_CELL)
            while joined.count('"') % 2 and end < last and not _STARTS_WITH_URL.match(lines[end]):
                joined += "\n" + lines[end]
                end += 1
            if joined.count('"') % 2 or len(joined) > MAX_LINE_LENGTH:
                yield number, record, "a quote is not closed"
                continue
            record, position = joined, end
        yield number, record, None


def _cells(record: str, separator: str) -> list[str]:
    return next(csv.reader([record], delimiter=separator, skipinitialspace=True), [])


def _separator(first: str) -> str:
    outside = re.sub(r'"[^"]*"', "", first)
    return max(SEPARATORS, key=outside.count) if any(one in outside for one in SEPARATORS) else ","


def _header(cells: list[str]) -> list[str] | None:
    names = [_SELECTOR_SUFFIX.sub("", cell.strip().lower()) for cell in cells]
    return names if "url" in names else None
