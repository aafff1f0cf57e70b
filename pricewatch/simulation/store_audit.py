"""Compares what is stored with what the marketplace knows to be true. Pure: each rule is a function."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from pricewatch.bazaar.client import ShownPeriod, TruthListing

UP = ("on_sale", "out_of_stock")
# Alive, though no list shows it any more.
ALIVE = (*UP, "unlisted")
# A page may say this and show no price: the row then repeats the last one, and claims nothing about it.
NO_PRICE_SHOWN = ("SOLD", "OUT_OF_STOCK")
# The page of a deleted product leads elsewhere: nobody can tell that from a shop that moved its pages.
LEADS_ELSEWHERE = ("to_similar", "to_category")
# What verification notes where nothing was heard of a listing for too long.
EXPIRED = "expired"
# So long does trust last at least, in the market that is simulated: nobody saw the listing since.
SILENCE = timedelta(hours=26)
# So many that vanish at one instant look like a shop that moved its pages, too.
MASS = 20
# What is stored of what is said about stock; where a card is silent, that is LISTED, or as known before.
AVAILABILITY = {
    "in": "IN_STOCK",
    "out": "OUT_OF_STOCK",
    "backorder": "BACKORDER",
    "preorder": "BACKORDER",
    "sold": "SOLD",
}
SILENT = (None, "unknown")
# A look at a page is stamped a moment after the marketplace answered.
MOMENT = timedelta(seconds=30)
Span = tuple[datetime, datetime]
OpenSpan = tuple[datetime, datetime | None]


class AuditRule(StrEnum):
    """What must not be, in the words of the report."""

    NOT_KNOWN = "a listing that was up for a whole sweep is not known"
    STORED_TWICE = "a listing is stored twice"
    NO_ROW = "a price that was up for a whole sweep is not in the history"
    STALE = "the stored price is not the one that the last sweep showed"
    REPEATED = "a history row repeats the one before"
    NEVER_SHOWN = "a price was stored that the page did not show"
    NEVER_SAID = "a stock was stored that nothing said"
    WRONG_AGE = "a price is dated to an instant at which it was not shown"
    WRONGLY_GONE = "a listing that was up was taken for gone"
    INACTIVE = "a listing that is up is inactive"
    WITHOUT_PRICE = "a listing that is up has no price"
    STILL_ACTIVE = "a listing is gone and still active"
    LOST_TARGET = "a watched page moved and was not followed"
    HELD_TWICE = "an offer is held twice for the same reason"
    STUCK_SWEEP = "a sweep did not come to its end in time"
    DISABLED = "an adapter was disabled though the shop is healthy"


@dataclass(slots=True)
class AuditVerdict:
    """How much was compared under each rule, and each thing that is not as it should be, in words."""

    checked: Counter[str] = field(default_factory=Counter)
    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def check(self, rule: AuditRule, holds: bool, what: str) -> None:
        self.checked[rule] += 1
        if not holds:
            self.broken[rule].append(what)

    def add(self, other: AuditVerdict) -> None:
        self.checked += other.checked
        for rule, cases in other.broken.items():
            self.broken[rule] += cases


class AuditRow(NamedTuple):
    """One row of the price history."""

    at: datetime
    price_cents: int | None
    currency: str | None
    availability: str


class Age(NamedTuple):
    """When the stored price is said to have been shown, and when the listing's own page was last read."""

    at: datetime
    price_cents: int | None
    currency: str | None
    read_at: datetime | None = None


@dataclass(slots=True)
class Stored:
    """One listing as the database has it."""

    id: int
    active: bool
    price_cents: int | None
    currency: str | None = None
    # The age of its price, as often as somebody looked.
    ages: list[Age] = field(default_factory=list)
    # When its own page was read; None where that is not known.
    reads: Collection[datetime] | None = None
    history: list[AuditRow] = field(default_factory=list)
    # What verification found against it: between when and when it looked, and what it saw.
    against: list[tuple[datetime, datetime, str]] = field(default_factory=list)


class AuditClaim(NamedTuple):
    """For a while, a listing had one price, and was shown in one way."""

    begins: datetime
    ends: datetime | None
    price: int
    shown: ShownPeriod

    @property
    def amount(self) -> tuple[int, str | None]:
        return self.price, self.shown.currency

    @property
    def span(self) -> OpenSpan:
        return self.begins, self.ends

    @property
    def tells_price(self) -> bool:
        return self.shown.card_price or self.shown.page_price


@dataclass(frozen=True, slots=True)
class Watching:
    """How a set of listings was watched.

    `cycles` are the complete sweeps, or rounds of targets; `looks` the runs that may find something gone;
    `patience` is how long a listing that is gone may go unnoticed, and `long_patience` one whose page leads
    elsewhere, or that vanished with many others: None where that is never concluded.
    """

    cycles: Sequence[Span]
    looks: Sequence[datetime]
    patience: timedelta
    long_patience: timedelta | None = None
    by_page: bool = False

    def is_listed(self, shown: ShownPeriod) -> bool:
        """Whether the place that is watched shows the listing, so that it can be stored."""
        return self.is_priced(shown) if self.by_page else shown.listed

    def is_priced(self, shown: ShownPeriod) -> bool:
        if self.by_page:
            return shown.page_price and shown.page_stock != "unknown"
        return shown.card_price


def audit(truth: Iterable[TruthListing], stored: dict[str, Stored], watching: Watching) -> AuditVerdict:
    """Check every promise about listings."""
    verdict = AuditVerdict()
    truth = list(truth)
    together = Counter(true.spans[-1][0] for true in truth if true.state not in ALIVE)
    for true in truth:
        found = {mine.id: mine for url in _paths(true) if (mine := stored.get(url)) is not None}
        claims = list(_spans(true))
        seen = _joined(each for each in claims if watching.is_listed(each.shown))
        if _any_inside(watching.cycles, seen):
            verdict.check(AuditRule.NOT_KNOWN, bool(found), true.url)
        if not found:
            continue
        verdict.check(AuditRule.STORED_TWICE, len(found) == 1, f"{true.url} as {sorted(found)}")
        mine = next(iter(found.values()))
        _check_prices(verdict, true, mine, claims, watching)
        _check_rows(verdict, true, mine, claims)
        _check_state(verdict, true, mine, claims, watching, together[true.spans[-1][0]] >= MASS)
    return verdict


def _check_prices(
    verdict: AuditVerdict, true: TruthListing, mine: Stored, all_claims: list[AuditClaim], watching: Watching
) -> None:
    """Every price that was shown for a whole sweep is in the history; that of the last one is stored."""
    periods: dict[tuple[int, str | None], list[AuditClaim]] = defaultdict(list)
    for claim in all_claims:
        if watching.is_priced(claim.shown):
            periods[claim.amount].append(claim)
    kept = {(row.price_cents, row.currency) for row in mine.history}
    priced = False
    for amount, claims in periods.items():
        spans = _joined(claims)
        if not _any_inside(watching.cycles, spans):
            continue
        priced = True
        verdict.check(AuditRule.NO_ROW, amount in kept, f"{true.url} {_money(amount)}")
        if spans[-1][1] is None and mine.active and _any_inside(watching.cycles[-1:], spans[-1:]):
            stored = (mine.price_cents, mine.currency)
            verdict.check(
                AuditRule.STALE, stored == amount, f"{true.url} {_money(amount)}, stored {_money(stored)}"
            )
    if true.state in ALIVE and mine.active and priced:
        verdict.check(AuditRule.WITHOUT_PRICE, mine.price_cents is not None, true.url)


def _check_rows(verdict: AuditVerdict, true: TruthListing, mine: Stored, claims: list[AuditClaim]) -> None:
    """No row says what was not shown when it was observed, and neither does the age of the price."""
    before: AuditRow | None = None
    for row in mine.history:
        verdict.check(
            AuditRule.REPEATED, before is None or before[1:] != row[1:], f"{true.url} {row.at:%d.%m. %H:%M}"
        )
        around = _around(claims, row.at)
        amount = (row.price_cents, row.currency)
        carried = (
            before is not None
            and amount == (before.price_cents, before.currency)
            and (row.availability in NO_PRICE_SHOWN or not all(each.shown.card_price for each in around))
        )
        if not carried:
            shown = {each.amount for each in around if each.tells_price}
            verdict.check(AuditRule.NEVER_SHOWN, amount in shown, f"{true.url} {_money(amount)} at {row.at}")
        said = _said(around, page_read=mine.reads is None or row.at in mine.reads) | (
            {before.availability} if before and _is_silent(around) else set()
        )
        verdict.check(
            AuditRule.NEVER_SAID, row.availability in said, f"{true.url} {row.availability} at {row.at}"
        )
        before = row
    for age in mine.ages:
        told = f"{true.url} {_money((age.price_cents, age.currency))} dated {age.at}"
        verdict.check(AuditRule.WRONG_AGE, _was_shown(age, _around(claims, age.at)), told)


def _check_state(
    verdict: AuditVerdict,
    true: TruthListing,
    mine: Stored,
    claims: list[AuditClaim],
    watching: Watching,
    is_mass: bool,
) -> None:
    alive = _joined_spans((a, b) for a, b, state, _ in true.spans if state in ALIVE)
    for since, at, outcome in mine.against:
        looked = (min(since, at - MOMENT), at)
        if outcome == EXPIRED:
            # A conclusion from silence is about all of it: what was gone meanwhile may have just come back.
            looked = (at - SILENCE, at)
            if not _can_be_told(true, _around(claims, at)):
                continue
        verdict.check(
            AuditRule.WRONGLY_GONE, not _any_inside([looked], alive), f"{true.url} {outcome} at {at}"
        )
    last_begins, _, last_state, mode = true.spans[-1]
    if last_state in ALIVE:
        # One that came back since the last sweep cannot be known to be back.
        listed = _joined(each for each in claims if watching.is_listed(each.shown))
        since_then = [span for span in listed if span[0] >= alive[-1][0]]
        if _any_inside(watching.cycles, since_then) and _can_be_told(true, claims):
            verdict.check(AuditRule.INACTIVE, mine.active, f"{true.url} since {alive[-1][0]}")
        return
    patience = watching.long_patience if is_mass or mode in LEADS_ELSEWHERE else watching.patience
    if patience is not None and sum(look > last_begins + patience for look in watching.looks) >= 2:
        verdict.check(
            AuditRule.STILL_ACTIVE, not mine.active, f"{true.url} since {last_begins} ({mode or last_state})"
        )


def held_twice(held: Iterable[tuple[str, str, str]]) -> AuditVerdict:
    """Open rows of the quarantine as (source, identity or URL, reason): one for each."""
    verdict = AuditVerdict()
    for row, count in Counter(held).items():
        verdict.check(AuditRule.HELD_TWICE, count == 1, f"{count} times: {' '.join(row)}")
    return verdict


def stuck_sweeps(
    ended: Sequence[datetime], begins: datetime, ends: datetime, longest: timedelta, excused: Sequence[Span]
) -> AuditVerdict:
    """From one complete sweep to the next at most so long, but for times in which none could be complete."""
    verdict = AuditVerdict()
    edges = [begins, *ended, ends]
    for before, after in pairwise(edges):
        taken = after - before - _overlap((before, after), excused)
        told = f"none complete from {before:%d.%m. %H:%M} to {after:%d.%m. %H:%M}"
        verdict.check(AuditRule.STUCK_SWEEP, taken <= longest, told)
    return verdict


def disabled_adapters(switched_off: Iterable[tuple[datetime, str, str]], runs: int) -> AuditVerdict:
    """When an adapter was switched off, which, and why; the shop of a simulation is always a healthy one."""
    verdict = AuditVerdict(Counter({AuditRule.DISABLED: runs}))
    for at, adapter_id, note in switched_off:
        verdict.broken[AuditRule.DISABLED].append(f"{adapter_id} at {at:%d.%m. %H:%M}: {note}")
    return verdict


def lost_targets(truth: Iterable[TruthListing], broken_paths: Iterable[str]) -> AuditVerdict:
    """Pages that moved and are still there, against the paths of targets that count as broken."""
    verdict = AuditVerdict()
    broken = set(broken_paths)
    for true in truth:
        if len(true.urls) > 1 and true.state in ALIVE:
            lost = broken.intersection(true.urls)
            verdict.check(AuditRule.LOST_TARGET, not lost, f"{', '.join(sorted(lost))} is {true.url} now")
    return verdict


def _can_be_told(true: TruthListing, claims: list[AuditClaim]) -> bool:
    """Whether anything says last that it is there: a list, or a page that can be read without JavaScript."""
    return true.markup != "js" or bool(claims and claims[-1].shown.listed)


def _paths(true: TruthListing) -> list[str]:
    return [true.url, *true.urls, *true.other_urls]


def _spans(true: TruthListing) -> Iterator[AuditClaim]:
    """The listing's life, cut wherever its price or the way it is shown changes."""
    ends = [*(at for at, _ in true.prices[1:]), None]
    for (begins, price), end in zip(true.prices, ends, strict=True):
        for shown in true.shown:
            first, last = max(begins, shown.begins), _earlier(end, shown.ends)
            if last is None or first < last:
                yield AuditClaim(first, last, price, shown)


def _around(claims: list[AuditClaim], at: datetime) -> list[AuditClaim]:
    return [each for each in claims if each.begins <= at and (each.ends is None or each.ends >= at - MOMENT)]


def _was_shown(age: Age, around: list[AuditClaim]) -> bool:
    """Whether a card showed that price then; or the page did, and was read."""
    read = age.read_at is not None and abs(age.at - age.read_at) <= MOMENT
    amount = (age.price_cents, age.currency)
    return any(
        each.amount == amount and (each.shown.card_price or (each.shown.page_price and read))
        for each in around
    )


def _said(around: list[AuditClaim], *, page_read: bool) -> set[str]:
    """Everything that may be stored of what is said about stock; "in stock" only by a place that was read."""
    said = {each.shown.card_stock for each in around}
    said |= {each.shown.page_stock for each in around if page_read or each.shown.page_stock != "in"}
    return {AVAILABILITY[word] for word in said if word not in SILENT} | (
        {"LISTED"} if _is_silent(around) else set()
    )


def _is_silent(around: list[AuditClaim]) -> bool:
    """Whether a card, or a page, left the stock open."""
    return any(each.shown.card_stock in SILENT or each.shown.page_stock in SILENT for each in around)


def _joined(claims: Iterable[AuditClaim]) -> list[OpenSpan]:
    return _joined_spans(claim.span for claim in claims)


def _joined_spans(spans: Iterable[OpenSpan]) -> list[OpenSpan]:
    """Spans that follow each other without a gap are one."""
    joined: list[OpenSpan] = []
    for begins, ends in spans:
        if joined and joined[-1][1] == begins:
            joined[-1] = (joined[-1][0], ends)
        else:
            joined.append((begins, ends))
    return joined


def _any_inside(inner: Iterable[Span], outer: Sequence[OpenSpan]) -> bool:
    return any(
        begins <= first and (ends is None or last <= ends) for first, last in inner for begins, ends in outer
    )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _overlap(span: Span, others: Sequence[Span]) -> timedelta:
    cut = (min(span[1], end) - max(span[0], begin) for begin, end in others)
    return sum((each for each in cut if each > timedelta()), timedelta())


def _money(amount: tuple[int | None, str | None]) -> str:
    return f"{amount[0]} {amount[1]}"
