"""Many URLs at once: each line checked, the good ones added in one transaction, every line told of."""

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
from pricewatch.adapters.custom_selectors import NAMES, check_selectors
from pricewatch.errors import UserError
from pricewatch.parsing.target_csv import CsvFile
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.addresses import PORTS, AllowedHosts, how_to_allow, literal_address, refusal
from pricewatch.rules.target_schedule import (
    DEFAULT_SCHEDULE,
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    check_schedule,
)
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.writing import source_rows

MOST_LINES = 200_000
LONGEST_URL = 2_000
LONGEST_NOTE = 1_000
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class LineOutcome(StrEnum):
    ADDED = "added"
    # A target watches this page already, and was given something new, or not; in the file twice.
    UPDATED = "updated"
    KNOWN = "known"
    REPEATED = "repeated"
    REJECTED = "rejected"


_WORDS = {
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
    # Sources that no person has approved: what was added for them waits.
    unapproved: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[LineOutcome]:
        return Counter(line.outcome for line in self.lines)

    @property
    def sentence(self) -> str:
        counts = self.counts
        told = ", ".join(f"{counts[outcome]} {word}" for outcome, word in _WORDS.items())
        return f"{len(self.lines)} lines: {told}"

    def write(self, file: TextIO) -> None:
        """The whole report as CSV, harmless in a spreadsheet."""
        writer = csv.writer(file)
        writer.writerow(("line", "url", "outcome", "reason"))
        for line in self.lines:
            writer.writerow((line.number, _harmless(line.url), line.outcome, _harmless(line.reason)))


class BadTarget(UserError):
    """Something that cannot become a target, and why."""


def check(values: Mapping[str, str], allowed: AllowedHosts) -> NewTarget:
    """A target from what a person gave; raises `BadTarget` with the reason where it cannot be one."""
    url = values.get("url", "").strip()
    canonical = check_url(url, allowed)
    schedule = values.get("schedule") or DEFAULT_SCHEDULE
    if problem := _schedule_problem(schedule):
        raise BadTarget(f"the schedule {schedule!r} cannot be read: {problem}")
    selectors = {name: values[name] for name in NAMES if values.get(name)}
    if problem := check_selectors(selectors):
        raise BadTarget(problem)
    adapter_id = values.get("adapter") or None
    if adapter_id is not None and adapter_id not in adapters.known():
        raise BadTarget(f"there is no adapter {adapter_id!r}; known are {', '.join(adapters.known())}")
    notes = values.get("notes")
    return NewTarget(
        url=url,
        canonical_url=canonical,
        schedule=schedule,
        priority=_priority(values.get("priority") or "0"),
        selectors=selectors,
        adapter_id=adapter_id,
        notes=notes.replace("\x00", "")[:LONGEST_NOTE] if notes else None,
        given=tuple(name for name in ("schedule", "priority") if values.get(name)),
    )


def check_url(url: str, allowed: AllowedHosts) -> str:
    """The canonical spelling of a URL that may be fetched, as far as the URL alone can tell."""
    if not url:
        raise BadTarget("there is no URL")
    if len(url) > LONGEST_URL:
        raise BadTarget(f"the URL is longer than {LONGEST_URL} characters")
    try:
        canonical = canonical_url(url)
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or PORTS[parts.scheme]
    except (InvalidUrl, ValueError, KeyError):
        raise BadTarget("it is no web address") from None
    if not url.isprintable():
        raise BadTarget("it has characters in it that cannot be seen")
    if parts.username or parts.password:
        raise BadTarget("it has a user name or password in it; those must not be stored")
    address = literal_address(host)
    if address is not None:
        if why := refusal(host, address, port, allowed):
            raise BadTarget(why)
    elif ("." not in host or host.endswith(_LOCAL_NAMES)) and not allowed.allows(host, None, port):
        raise BadTarget(f"{host} is not a public name; {how_to_allow(host, port)}")
    return canonical


def allowed_hosts(connection: Connection, configured: Iterable[str] = ()) -> AllowedHosts:
    """What may be private: the settings' list, and the sources that an operator put there."""
    allowed = AllowedHosts(configured)
    for place in source_rows.load(connection).private_places():
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
    """Add the good lines, in the caller's transaction; whoever only wants to look rolls it back."""
    if len(file.lines) > MOST_LINES:
        raise UserError(f"The file has {len(file.lines)} lines; at most {MOST_LINES} are taken at once.")
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
        outcome, reason = LineOutcome.KNOWN, "a target watches this page already"
        if number in added.ids:
            outcome, reason = LineOutcome.ADDED, ""
        elif number in added.updated:
            outcome, reason = LineOutcome.UPDATED, "a target watches this page already, and is changed"
        report.lines[place] = LineReport(line.number, line.url, outcome, reason)


@lru_cache(maxsize=256)
def _schedule_problem(schedule: str) -> str | None:
    return check_schedule(schedule)


def _priority(text: str) -> int:
    try:
        priority = int(text)
    except ValueError:
        raise BadTarget(f"the priority {text[:20]!r} is no whole number") from None
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise BadTarget(f"the priority {priority} is not between {LOWEST_PRIORITY} and {HIGHEST_PRIORITY}")
    return priority


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
