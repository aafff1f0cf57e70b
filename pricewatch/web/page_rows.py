"""Typed rows for JSON columns: a misspelled field in a template is an error, not an empty cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pricewatch.money import Money
from pricewatch.rules.custom_spiders import run_kind
from pricewatch.rules.price_options import PriceOption, price_options, read_availability
from pricewatch.runs.target_report import price_of

Json = Mapping[str, Any]
Fact = tuple[str, Any]
# Details with a place of their own on the page, or of use to programs only.
_OTHER_DETAILS = {
    *("evidence", "candidates", "why", "title", "encoding", "from"),
    *("price_cents", "stored_price_cents", "currency"),
    *("price_place", "may_need_browser"),
}
_OFFER_FACTS = ("brand", "gtin", "mpn", "sku", "location")


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A quarantined offer, with the price that was read and the price that is stored."""

    id: int
    source_id: str
    run_id: int | None
    target_id: int | None
    listing_id: int | None
    adapter_id: str
    adapter_version: str
    url: str
    identity_key: str | None
    reason: str
    status: str
    times_seen: int
    first_seen_at: datetime
    observed_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str | None
    note: str | None
    title: str
    price: Money | None
    stored: Money | None
    availability: str
    why: str
    evidence: Sequence[str]
    options: Sequence[PriceOption]
    # What the reader found out about the stock; empty if that is not known.
    read_availability: str
    facts: Sequence[Fact]

    @classmethod
    def of(cls, row: Json) -> QuarantineRow:
        offer, details = row["offer"], row["details"]
        columns = {name: row[name] for name in _QUARANTINE_COLUMNS}
        return cls(
            **columns,
            title=offer.get("title") or details.get("title") or "",
            price=price_of(offer),
            stored=Money.of(details.get("stored_price_cents"), details.get("currency")),
            availability=offer.get("availability") or "",
            why=details.get("why") or "",
            evidence=details.get("evidence") or (),
            options=price_options(details),
            read_availability=read_availability(offer, details) or "",
            facts=[fact for fact in details.items() if fact[0] not in _OTHER_DETAILS],
        )


_QUARANTINE_COLUMNS = (
    *("id", "source_id", "run_id", "target_id", "listing_id", "adapter_id", "adapter_version", "url"),
    "identity_key",
    *("reason", "status", "times_seen", "first_seen_at", "observed_at", "reviewed_at", "reviewed_by", "note"),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one page could not be read, and which proxy was used."""

    error: str
    page: int | None
    proxy: str | None


@dataclass(frozen=True, slots=True)
class StartProgress:
    """How far one start page has been read."""

    url: str
    pages: int
    collected: int
    completed: bool
    failed_page: int | None
    failures: Sequence[Failure]

    @classmethod
    def of(cls, stored: Json) -> StartProgress:
        failures = stored.get("failures") or ()
        return cls(
            url=stored.get("start_page") or "",
            pages=stored.get("pages") or 0,
            collected=stored.get("collected") or 0,
            completed=bool(stored.get("completed")),
            failed_page=stored.get("failed_page"),
            failures=[
                Failure(failure.get("error") or "", failure.get("page"), failure.get("proxy"))
                for failure in failures
            ],
        )


@dataclass(frozen=True, slots=True)
class CycleRow:
    seen: int
    last_complete: int | None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run; None for values that its spider does not report."""

    page: int | None
    first_page: int
    last_page: int | None
    pages_in_market: int | None
    cycle: CycleRow | None
    start_pages: Sequence[StartProgress]
    facts: Sequence[Fact]

    @classmethod
    def of(cls, stored: Json) -> Progress:
        cycle = stored.get("cycle")
        return cls(
            page=stored.get("page"),
            first_page=stored.get("first_page") or 1,
            last_page=stored.get("last_page"),
            pages_in_market=stored.get("pages_in_market"),
            cycle=CycleRow(cycle.get("seen") or 0, cycle.get("last_complete")) if cycle else None,
            start_pages=[StartProgress.of(start) for start in stored.get("start_pages") or ()],
            facts=[fact for fact in sorted(stored.items()) if not isinstance(fact[1], (dict, list))],
        )


@dataclass(frozen=True, slots=True)
class RunError:
    error: str
    facts: Sequence[Fact]

    @classmethod
    def of(cls, stored: Json) -> RunError:
        facts = [fact for fact in stored.items() if fact[0] not in ("error", "at") and fact[1]]
        return cls(stored.get("error") or "", facts)


def run_row(row: Json) -> dict[str, Any]:
    """A run with its kind, its progress and, if selected, its errors as typed rows."""
    errors = {"errors": [RunError.of(error) for error in row["errors"]]} if "errors" in row else {}
    kind = run_kind(row["spider"], row["adapter_id"])
    return {**row, **errors, "kind": kind, "progress": Progress.of(row["progress"])}


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """The result of a preview of one URL."""

    status: str
    reason: str
    details: str
    title: str
    price: Money | None
    stored: Money | None
    availability: str
    currency: str
    facts: Sequence[Fact]
    evidence: Sequence[str]

    @classmethod
    def of(cls, result: Json) -> PreviewRow:
        offer = result.get("offer") or {}
        return cls(
            status=result["status"],
            reason=result.get("reason") or "",
            details=result.get("details") or "",
            title=offer.get("title") or "",
            price=price_of(offer),
            stored=price_of(result.get("known") or {}),
            availability=offer.get("availability") or "",
            currency=offer.get("currency") or "",
            facts=[(name, offer[name]) for name in _OFFER_FACTS if offer.get(name)],
            evidence=result.get("evidence") or (),
        )
