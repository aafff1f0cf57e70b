"""Compares what is stored with what the marketplace knows to be true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.bazaar.client import TruthListing
from pricewatch.bazaar.listing import PRICE_HIDDEN
from pricewatch.money import Money

UP = ("on_sale", "out_of_stock")
# A page may say this and show no price: the row then repeats the last one, and claims nothing about it.
NO_PRICE_SHOWN = ("SOLD", "OUT_OF_STOCK")
# A look at a page is stamped a moment after the marketplace answered.
MOMENT = timedelta(seconds=30)
Span = tuple[datetime, datetime]


@dataclass(slots=True)
class Verdict:
    """What was compared, and each thing that is not as it should be, in words."""

    listings: int = 0
    prices: int = 0
    gone: int = 0
    history_rows: int = 0
    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def blame(self, rule: str, what: str) -> None:
        self.broken[rule].append(what)


@dataclass(slots=True)
class Stored:
    """One listing as the database has it."""

    id: int
    active: bool
    price: Money | None
    history: list[tuple[datetime, Money | None, str]] = field(default_factory=list)
    # What verification found against it: between when and when it looked, and what it saw.
    against: list[tuple[datetime, datetime, str]] = field(default_factory=list)


def stored_listings(connection: Connection, source_id: str) -> dict[str, Stored]:
    """Everything of a source, by the path of its URL: that stays when a site renumbers its adverts."""
    found: dict[int, Stored] = {}
    by_path: dict[str, Stored] = {}
    rows = connection.execute(
        text("SELECT id, active, price_cents, currency, canonical_url FROM listings WHERE source_id = :s"),
        {"s": source_id},
    )
    for listing_id, active, price, currency, url in rows:
        found[listing_id] = by_path[_path(url)] = Stored(listing_id, active, Money.of(price, currency))
    history = connection.execute(
        text(
            "SELECT listing_id, observed_at, price_cents, currency, availability FROM price_history"
            " ORDER BY listing_id, observed_at"
        )
    )
    for listing_id, at, price, currency, availability in history:
        if listing_id in found:
            found[listing_id].history.append((at, Money.of(price, currency), availability))
    attempts = connection.execute(
        text(
            "SELECT v.listing_id, r.started_at, v.checked_at, v.outcome FROM verification_attempts v"
            " JOIN runs r ON r.id = v.run_id"
            " WHERE v.outcome IN ('gone', 'sold', 'expired') OR v.strike ORDER BY v.id"
        )
    )
    for listing_id, since, at, outcome in attempts:
        if listing_id in found:
            found[listing_id].against.append((since, at, outcome))
    return by_path


def audit(
    truth: Iterable[TruthListing],
    stored: dict[str, Stored],
    *,
    cycles: Sequence[Span],
    looks: Sequence[datetime],
    patience: timedelta,
) -> Verdict:
    """Check every promise.

    `cycles` are the complete sweeps, `looks` the verification runs, `patience` how long a listing that is not
    there any more may go unnoticed.
    """
    verdict = Verdict(history_rows=sum(len(each.history) for each in stored.values()))
    for true in truth:
        mine = stored.get(true.url)
        spans = [(a, b, state) for a, b, state, _ in true.spans]
        up = [(a, b) for a, b, state in spans if state in UP]
        if any(_inside(cycle, span) for span in _joined(up) for cycle in cycles):
            verdict.listings += 1
            if mine is None:
                verdict.blame("a listing that was up for a whole sweep is not known", true.url)
        if mine is None:
            continue
        shown = [(a, b) for a, b, state, mode in true.spans if state in UP and mode != PRICE_HIDDEN]
        _check_prices(verdict, true, mine, _joined(shown), cycles)
        _check_state(verdict, true, mine, _joined(up), cycles, looks, patience)
    return verdict


def _check_prices(
    verdict: Verdict, true: TruthListing, mine: Stored, up: list[Any], cycles: Sequence[Span]
) -> None:
    periods = _periods(true)
    for begins, ends, price in periods:
        shown = [
            (max(begins, a), min(ends, b) if b and ends else b or ends)
            for a, b in up
            if b is None or b > begins
        ]
        if any(_inside(cycle, span) for span in shown for cycle in cycles):
            verdict.prices += 1
            if not any(stored_price == price for _, stored_price, _ in mine.history):
                verdict.blame(
                    "a price that was up for a whole sweep is not in the history", f"{true.url} {price}"
                )
    before: tuple[Money | None, str] | None = None
    for at, stored, availability in mine.history:
        if (stored, availability) == before:
            verdict.blame("a history row repeats the one before", f"{true.url} {at:%d.%m. %H:%M}")
        carried_over = before is not None and stored == before[0] and availability in NO_PRICE_SHOWN
        before = (stored, availability)
        if carried_over:
            continue
        around = {p for begins, ends, p in periods if begins <= at and (ends is None or ends >= at - MOMENT)}
        if stored not in around:
            verdict.blame("a price was stored that the page did not show", f"{true.url} {stored} at {at}")


def _check_state(
    verdict: Verdict,
    true: TruthListing,
    mine: Stored,
    up: list[Any],
    cycles: Sequence[Span],
    looks: Sequence[datetime],
    patience: timedelta,
) -> None:
    for since, at, outcome in mine.against:
        looked = (min(since, at - MOMENT), at)
        if any(_inside(looked, span) for span in up):
            verdict.blame("a listing that was up was taken for gone", f"{true.url} {outcome} at {at}")
    last_begins, _, last_state, _ = true.spans[-1]
    if last_state in UP:
        # One that came back since the last sweep cannot be known to be back.
        if not mine.active and any(_inside(cycle, up[-1]) for cycle in cycles):
            verdict.blame("a listing that is up is inactive", f"{true.url} since {up[-1][0]}")
        elif mine.active and mine.price is None and true.mode != PRICE_HIDDEN:
            verdict.blame("a listing that is up has no price", true.url)
    elif looks and sum(look > last_begins + patience for look in looks) >= 2:
        verdict.gone += 1
        if mine.active:
            verdict.blame("a listing is gone and still active", f"{true.url} since {last_begins}")


def _periods(true: TruthListing) -> list[tuple[datetime, datetime | None, Money]]:
    ends = [at for at, _ in true.prices[1:]] + [None]
    prices = [(at, Money(price, true.currency)) for at, price in true.prices]
    return [(at, end, price) for (at, price), end in zip(prices, ends, strict=True)]


def _joined(spans: list[tuple[datetime, datetime | None]]) -> list[tuple[datetime, datetime | None]]:
    """Spans that follow each other without a gap are one."""
    joined: list[tuple[datetime, datetime | None]] = []
    for begins, ends in spans:
        if joined and joined[-1][1] == begins:
            joined[-1] = (joined[-1][0], ends)
        else:
            joined.append((begins, ends))
    return joined


def _inside(inner: Span, outer: tuple[datetime, datetime | None]) -> bool:
    return outer[0] <= inner[0] and (outer[1] is None or inner[1] <= outer[1])


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]
