"""A CSV file of URLs as people have them: any usual encoding and separator, quotes, lines that are no good.

Every line gives either its values or what is wrong with it; a bad line never takes its neighbours with it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

COLUMNS = ("url", "schedule", "priority", "adapter", "price", "title", "availability", "currency", "notes")
SEPARATORS = (";", "\t", ",", "|")
LONGEST_LINE = 8_000
# A quoted cell may hold line breaks, but not half a file.
MOST_LINES_OF_A_CELL = 10
_SELECTOR_SUFFIX = re.compile(r"[ _-]?selector$")
# A line of its own, whatever the quotes before it say.
_BEGINS_WITH_URL = re.compile(r'\s*"?https?://', re.IGNORECASE)
# Cells after the first, in a line without a header: a separator alone may well stand in a URL.
_FURTHER_CELLS = re.compile(r"[\s|]|[;,]{2}|[;,]$")
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class CsvLine:
    """One line of the file, or several that a quoted cell joins; `number` is that of the first."""

    number: int
    values: dict[str, str] = field(default_factory=dict)
    problem: str | None = None


@dataclass(slots=True)
class CsvFile:
    lines: list[CsvLine] = field(default_factory=list)
    # What is said once, about the whole file.
    notices: list[str] = field(default_factory=list)


def decode(data: bytes) -> str:
    """The text of a file: by its byte order mark, else UTF-8, else what Windows writes in the west."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # Programs that put one before a text that had one already leave a second.
            return data.decode(encoding, "replace").lstrip("\ufeff")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_csv(data: bytes) -> CsvFile:
    """With a header that names a column `url`, or else one URL per line and nothing more."""
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
                    found.notices.append(f"columns that are not known are left out: {', '.join(unknown)}")
                continue
            if _BEGINS_WITH_URL.match(record) or separator not in record:
                # Not a header that nobody knows: what looks like a separator belongs to the URL.
                separator = ""
        found.lines.append(_line(number, record, problem, columns or [], separator or ""))
    return found


def _line(number: int, record: str, problem: str | None, columns: list[str], separator: str) -> CsvLine:
    if problem is not None:
        return CsvLine(number, {"url": record[:200]}, problem)
    if not columns:
        url = record.strip().strip('"').strip()
        if _FURTHER_CELLS.search(url) or (separator and separator in url):
            problem = "it has more than a URL in it, and no header names a column `url`"
        return CsvLine(number, {"url": url[:200] if problem else url}, problem)
    try:
        cells = _cells(record, separator)
    except csv.Error as error:
        return CsvLine(number, {"url": record[:200]}, f"it is no CSV ({error})")
    if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
        problem = f"it has {len(cells)} cells, the header has {len(columns)}: is a {separator!r} not quoted?"
    values = {
        column: cell.strip()
        for column, cell in zip(columns, cells, strict=False)
        if column in COLUMNS and cell.strip()
    }
    return CsvLine(number, values, problem)


def _records(lines: list[str]) -> Iterator[tuple[int, str, str | None]]:
    """(number of the first line, text, what is wrong), with lines joined where a quoted cell goes on."""
    place = 0
    while place < len(lines):
        number, record = place + 1, lines[place]
        place += 1
        if not record.strip():
            continue
        if len(record) > LONGEST_LINE:
            yield number, record, f"it is longer than {LONGEST_LINE} characters"
            continue
        if record.count('"') % 2:
            joined, ends = record, place
            last = min(len(lines), place + MOST_LINES_OF_A_CELL)
            while joined.count('"') % 2 and ends < last and not _BEGINS_WITH_URL.match(lines[ends]):
                joined += "\n" + lines[ends]
                ends += 1
            if joined.count('"') % 2 or len(joined) > LONGEST_LINE:
                yield number, record, "a quote is not closed"
                continue
            record, place = joined, ends
        yield number, record, None


def _cells(record: str, separator: str) -> list[str]:
    return next(csv.reader([record], delimiter=separator, skipinitialspace=True), [])


def _separator(first: str) -> str:
    outside = re.sub(r'"[^"]*"', "", first)
    return max(SEPARATORS, key=outside.count) if any(one in outside for one in SEPARATORS) else ","


def _header(cells: list[str]) -> list[str] | None:
    names = [_SELECTOR_SUFFIX.sub("", cell.strip().lower()) for cell in cells]
    return names if "url" in names else None
