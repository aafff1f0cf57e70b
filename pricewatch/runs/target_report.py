"""The result of checking one URL, as JSON for programs and as lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pricewatch.items import Drop, Offer, Ok, Quarantine
from pricewatch.money import Money
from pricewatch.rules.price_jump import is_jump
from pricewatch.store.engine.json_safe import json_safe

PRINTED_FIELDS = (
    "title",
    "availability",
    "brand",
    "gtin",
    "mpn",
    "sku",
    "product_id",
    "seller",
    "location",
    "image",
)


@dataclass(slots=True)
class CheckResult:
    """`status` is ok, drop, quarantine or failed; `known` is the stored price and availability."""

    url: str
    status: str
    reason: str = ""
    details: str = ""
    offer: dict[str, Any] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    stored: bool = False

    def as_json(self) -> dict[str, Any]:
        result: dict[str, Any] = json_safe(asdict(self))
        return result


def result_of(
    url: str, offer: Offer, verdict: Ok | Drop | Quarantine, evidence: list[str], known: dict[str, Any]
) -> CheckResult:
    """Return what would be stored, or why not; a price that jumps would be quarantined."""
    result = CheckResult(url, "ok", offer=asdict(offer), evidence=evidence, known=known)
    if isinstance(verdict, Drop):
        result.status, result.reason, result.details = "drop", verdict.reason, verdict.details
    elif isinstance(verdict, Quarantine):
        result.status, result.reason = "quarantine", verdict.reason
        result.details = str(verdict.details.get("why", ""))
        result.evidence = evidence or [str(line) for line in verdict.details.get("evidence", [])]
    elif is_jump(before := price_of(known), offer.price):
        result.status, result.reason = "quarantine", "VALIDATION_FAILED"
        result.details = f"the price jumped from {before}"
    return result


def lines_of(result: CheckResult) -> list[str]:
    """Format the result for a person."""
    offer = result.offer
    why = " ".join(filter(None, (result.reason, f"({result.details})" if result.details else "")))
    summaries = {
        "ok": "stored" if result.stored else "would be stored",
        "drop": f"not stored: {why}",
        "quarantine": f"quarantined: {why}" if result.stored else f"would be quarantined: {why}",
        "failed": f"nothing to store: {why}",
    }
    lines = [result.url, f"  {summaries[result.status]}"]
    if price := price_of(offer):
        lines.append(f"  {'price':13} {price}")
    lines += [f"  {name:13} {_format(offer[name])}" for name in PRINTED_FIELDS if offer.get(name)]
    if known := price_of(result.known):
        lines.append(f"  {'stored so far':13} {known}, {result.known['availability']}")
    lines += [f"    {line}" for line in result.evidence[:12]]
    return lines


def price_of(fields: Mapping[str, Any]) -> Money | None:
    return Money.of(fields.get("price_cents"), fields.get("currency"))


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name") or value.get("id"))
    return str(value)
