"""What pages show of open JSON, as typed rows: a field that is not there is an error, not an empty cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pricewatch.money import Money
from pricewatch.rules.custom_spiders import kind_of
from pricewatch.runs.target_report import price_of

Json = Mapping[str, Any]
Fact = tuple[str, Any]
# Shown by themselves, or of use to programs only.
_DETAILS_SHOWN = {
    *("evidence", "candidates", "why", "encoding", "from", "price_cents", "stored_price_cents", "currency"),
}
_OFFER_FACTS = ("brand", "gtin", "mpn", "sku", "location")


@dataclass(frozen=True, slots=True)
class HeldRow:
    """An offer that is held, with the price that was read and the one that is stored."""

    id: int
    source_id: str
    run_id: int | None
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
    candidates: Sequence[str]
    facts: Sequence[Fact]

    @classmethod
    def of(cls, row: Json) -> HeldRow:
        offer, details = row["offer"], row["details"]
        columns = {name: row[name] for name in _HELD_COLUMNS}
        return cls(
            **columns,
            title=offer.get("title") or "",
            price=price_of(offer),
            stored=Money.of(details.get("stored_price_cents"), details.get("currency")),
            availability=offer.get("availability") or "",
            why=details.get("why") or "",
            evidence=details.get("evidence") or (),
            candidates=details.get("candidates") or (),
            facts=[fact for fact in details.items() if fact[0] not in _DETAILS_SHOWN],
        )


_HELD_COLUMNS = (
    *("id", "source_id", "run_id", "listing_id", "adapter_id", "adapter_version", "url", "identity_key"),
    *("reason", "status", "times_seen", "first_seen_at", "observed_at", "reviewed_at", "reviewed_by", "note"),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one page could not be read, and by which proxy."""

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
    def of(cls, kept: Json) -> StartProgress:
        failures = kept.get("failures") or ()
        return cls(
            url=kept.get("start_page") or "",
            pages=kept.get("pages") or 0,
            collected=kept.get("collected") or 0,
            completed=bool(kept.get("completed")),
            failed_page=kept.get("failed_page"),
            failures=[Failure(one.get("error") or "", one.get("page"), one.get("proxy")) for one in failures],
        )


@dataclass(frozen=True, slots=True)
class CycleRow:
    seen: int
    last_complete: int | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, or was when it ended; None where its spider does not say."""

    page: int | None
    first_page: int
    last_page: int | None
    pages_in_market: int | None
    cycle: CycleRow | None
    start_pages: Sequence[StartProgress]
    facts: Sequence[Fact]

    @classmethod
    def of(cls, kept: Json) -> Progress:
        cycle = kept.get("cycle")
        return cls(
            page=kept.get("page"),
            first_page=kept.get("first_page") or 1,
            last_page=kept.get("last_page"),
            pages_in_market=kept.get("pages_in_market"),
            cycle=CycleRow(cycle.get("seen") or 0, cycle.get("last_complete")) if cycle else None,
            start_pages=[StartProgress.of(one) for one in kept.get("start_pages") or ()],
            facts=[fact for fact in sorted(kept.items()) if not isinstance(fact[1], (dict, list))],
        )


@dataclass(frozen=True, slots=True)
class RunError:
    error: str
    facts: Sequence[Fact]

    @classmethod
    def of(cls, kept: Json) -> RunError:
        facts = [fact for fact in kept.items() if fact[0] not in ("error", "at") and fact[1]]
        return cls(kept.get("error") or "", facts)


def run_row(row: Json) -> dict[str, Any]:
    """A run with its kind, its progress, and where it has them its errors, as rows of their own."""
    errors = {"errors": [RunError.of(one) for one in row["errors"]]} if "errors" in row else {}
    kind = kind_of(row["spider"], row["adapter_id"])
    return {**row, **errors, "kind": kind, "progress": Progress.of(row["progress"])}


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What a look at one URL came to."""

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
    def of(cls, result: Json) -> LookedAt:
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
