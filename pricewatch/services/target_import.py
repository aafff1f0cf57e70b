"""Import many targets at once: check each line, add the valid ones in one transaction, report every line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TextIO
from urllib.parse import urlsplit

from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import SELECTOR_NAMES, check_selectors
from pricewatch.errors import UserError
from pricewatch.parsing.target_csv import CsvFile
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.access.addresses import PORTS, AllowedHosts, how_to_allow, literal_address, refusal
from pricewatch.rules.rendering import check_choice
from pricewatch.rules.target_schedule import (
    DEFAULT_SCHEDULE,
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    check_schedule,
)
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.source_registry import source_rows

MOST_LINES = 200_000
LONGEST_URL = 2_000
LONGEST_NOTE = 1_000
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
# Spreadsheets treat a cell that starts with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class LineOutcome(StrEnum):
    ADDED = "added"
    # There is already a target for this page: changed by this line, or not.
    UPDATED = "updated"
    KNOWN = "known"
    # The same page is twice in the file.
    REPEATED = "repeated"
    REJECTED = "rejected"


_LABELS = {
    LineOutcome.ADDED: "new",
    LineOutcome.UPDATED: "updated",
    LineOutcome.KNOWN: "unchanged",
    LineOutcome.REPEATED: "repeated",
    LineOutcome.REJECTED: "rejected",
}


@dataclass(frozen=True, slots=True)
class LineReport:
    number: int
    url: str
    outcome: LineOutcome
    reason: str = ""


@dataclass(slots=True)
class ImportReport:
    lines: list[LineReport] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    # Sources that no person has approved yet; their targets wait.
    unapproved: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[LineOutcome]:
        return Counter(line.outcome for line in self.lines)

    @property
    def sentence(self) -> str:
        counts = self.counts
        listed = ", ".join(f"{counts[outcome]} {label}" for outcome, label in _LABELS.items())
        return f"{len(self.lines)} lines: {listed}"

    def write(self, file: TextIO) -> None:
        """Write the report as CSV, with formulas escaped."""
        writer = csv.writer(file)
        writer.writerow(("line", "url", "outcome", "reason"))
        for line in self.lines:
            writer.writerow((line.number, _escaped(line.url), line.outcome, _escaped(line.reason)))


class BadTarget(UserError):
    """A line that cannot become a target; the message says why."""


def check(values: Mapping[str, str], allowed: AllowedHosts) -> NewTarget:
    """Make a target from typed values; raise `BadTarget` if one is wrong."""
    url = values.get("url", "").strip()
    canonical = check_url(url, allowed)
    schedule = values.get("schedule") or DEFAULT_SCHEDULE
    if problem := _schedule_problem(schedule):
        raise BadTarget(f"the schedule {schedule!r} is not valid: {problem}")
    selectors = {name: values[name] for name in SELECTOR_NAMES if values.get(name)}
    if problem := check_selectors(selectors):
        raise BadTarget(problem)
    adapter_id = values.get("adapter") or None
    if adapter_id is not None and adapter_id not in adapters.known():
        raise BadTarget(f"unknown adapter {adapter_id!r}. Known: {', '.join(adapters.known())}")
    render = values.get("render", "").strip().lower() or None
    if render is not None:
        _check_render(render)
    notes = values.get("notes")
    return NewTarget(
        url=url,
        canonical_url=canonical,
        schedule=schedule,
        priority=_priority(values.get("priority") or "0"),
        selectors=selectors,
        adapter_id=adapter_id,
        notes=notes.replace("\x00", "")[:LONGEST_NOTE] if notes else None,
        render=render,
        chosen=tuple(name for name in ("schedule", "priority") if values.get(name)),
    )


def check_url(url: str, allowed: AllowedHosts) -> str:
    """Return the canonical URL; raise `BadTarget` if the URL may not be fetched."""
    if not url:
        raise BadTarget("the URL is missing")
    if len(url) > LONGEST_URL:
        raise BadTarget(f"the URL is longer than {LONGEST_URL} characters")
    try:
        canonical = canonical_url(url)
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or PORTS[parts.scheme]
    except (InvalidUrl, ValueError, KeyError):
        raise BadTarget("not a web address") from None
    if not url.isprintable():
        raise BadTarget("the URL contains invisible characters")
    if parts.username or parts.password:
        raise BadTarget("the URL contains a user name or password, which must not be stored")
    address = literal_address(host)
    if address is not None:
        if why := refusal(host, address, port, allowed):
            raise BadTarget(why)
    elif ("." not in host or host.endswith(_LOCAL_NAMES)) and not allowed.allows(host, None, port):
        raise BadTarget(f"{host} is not a public host name; {how_to_allow(host, port)}")
    return canonical


def allowed_hosts(connection: Connection, configured: Iterable[str] = ()) -> AllowedHosts:
    """Return the private hosts that may be fetched: those in the settings, and those of known sources."""
    allowed = AllowedHosts(configured)
    for place in source_rows.load(connection).base_urls():
        allowed.add(place)
    return allowed


def import_csv(
    connection: Connection,
    file: CsvFile,
    now: datetime,
    *,
    allowed: AllowedHosts,
    created_by: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> ImportReport:
    """Add the valid lines in the caller's transaction, which a preview rolls back."""
    if len(file.lines) > MOST_LINES:
        raise UserError(f"The file has {len(file.lines)} lines. The limit is {MOST_LINES} lines per import.")
    report = ImportReport(notices=list(file.notices))
    good: list[NewTarget] = []
    places: list[int] = []
    seen: dict[str, int] = {}
    for done, line in enumerate(file.lines, 1):
        url = line.values.get("url", "")
        outcome, reason = LineOutcome.REJECTED, line.problem or ""
        if line.problem is None:
            try:
                target = check(line.values, allowed)
            except BadTarget as error:
                reason = str(error)
            else:
                first = seen.setdefault(target.canonical_url, line.number)
                outcome = LineOutcome.KNOWN if first == line.number else LineOutcome.REPEATED
                reason = "" if first == line.number else f"the same page as line {first}"
                if not reason:
                    good.append(target)
                    places.append(len(report.lines))
        report.lines.append(LineReport(line.number, url, outcome, reason))
        if done % 500 == 0:
            progress(done)
    _add(connection, report, good, places, now, created_by)
    progress(len(file.lines))
    return report


def _add(
    connection: Connection,
    report: ImportReport,
    good: list[NewTarget],
    places: list[int],
    now: datetime,
    created_by: str | None,
) -> None:
    added = target_rows.add(connection, good, now, created_by)
    sources = source_rows.load(connection)
    report.unapproved = sorted(
        {name for name in added.sources if not sources.by_id[name].is_approved} if good else ()
    )
    for number, place in enumerate(places):
        line = report.lines[place]
        outcome, reason = LineOutcome.KNOWN, "this page is already a target"
        if number in added.ids:
            outcome, reason = LineOutcome.ADDED, ""
        elif number in added.updated:
            outcome, reason = LineOutcome.UPDATED, "this page is already a target, and was changed"
        report.lines[place] = LineReport(line.number, line.url, outcome, reason)


def _check_render(text: str) -> None:
    try:
        check_choice(text)
    except UserError as error:
        raise BadTarget(str(error).rstrip(".")) from None


@lru_cache(maxsize=256)
def _schedule_problem(schedule: str) -> str | None:
    return check_schedule(schedule)


def _priority(text: str) -> int:
    try:
        priority = int(text)
    except ValueError:
        raise BadTarget(f"the priority {text[:20]!r} is not a whole number") from None
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise BadTarget(f"the priority {priority} is not between {LOWEST_PRIORITY} and {HIGHEST_PRIORITY}")
    return priority


def _escaped(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
