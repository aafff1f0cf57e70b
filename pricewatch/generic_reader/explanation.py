"""Why the generic reader chose a price, or did not: rows for people, for the quarantine and for the shell."""

from __future__ import annotations

from typing import Any

from pricewatch.adapters.base import AmountReport
from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.generic_reader.page_amounts import Amount
from pricewatch.generic_reader.page_reading import ProductReading
from pricewatch.generic_reader.price_choice import Choice
from pricewatch.generic_reader.price_features import add_features
from pricewatch.generic_reader.price_weights import WEIGHTS
from pricewatch.parsing.pages.element_path import element_path

_MAX_CANDIDATES = 40


def amount_reports(reading: ProductReading, choice: Choice) -> list[AmountReport]:
    """The amounts of the page, the most likely first; those that cannot be the price come last."""
    add_features(reading.amounts, reading.amounts.amounts)
    amounts = sorted(reading.amounts.amounts, key=lambda one: (bool(one.excluded), -one.score))
    return [_report(reading, choice, amount) for amount in amounts[:_MAX_CANDIDATES]]


def candidate_rows(reading: ProductReading) -> list[dict[str, Any]]:
    """The candidates of a quarantined page, numbered; the amounts with the highest score first."""
    add_features(reading.amounts, reading.amounts.amounts)
    by_value = {amount.value: amount for amount in reading.amounts.amounts}

    def rank(candidate: PriceCandidate) -> tuple[bool, float]:
        amount = by_value.get(candidate.amount)
        return (True, 0.0) if amount is None else (bool(amount.excluded), -amount.score)

    rows = []
    for number, one in enumerate(sorted(reading.candidates(), key=rank)[:_MAX_CANDIDATES], start=1):
        amount = by_value.get(one.amount)
        element = one.displayed.element if one.displayed else None
        rows.append(
            {
                "number": number,
                **one.as_details(),
                "score": amount.score if amount else 0.0,
                "path": "" if element is None else element_path(element),
            }
        )
    return rows


def price_place(reading: ProductReading, choice: Choice) -> str:
    """A selector of the displayed price, if structured data states the same amount; empty otherwise."""
    if choice.price is None or not choice.price.is_stated:
        return ""
    place = reading.amounts.best_place(choice.price)
    if place is None or place.element is None or not reading.amounts.in_main(place):
        return ""
    path = element_path(place.element)
    alike = [one.element for one in reading.amounts.prices if one.where == place.where]
    first = next((one for one in alike if one is not None and element_path(one) == path), None)
    return path if first is place.element else ""


def place_evidence(reading: ProductReading) -> list[str]:
    """What the page shows at the place where the price stood on other pages of the shop."""
    if not reading.price_place:
        return []
    found = [one for one in reading.amounts.prices if reading.amounts.is_at_usual_place(one)]
    if not found:
        return [f"price place: not found: {reading.price_place}"]
    return [f"price place: {one.amount} at {reading.price_place}" for one in found[:1]]


def _report(reading: ProductReading, choice: Choice, amount: Amount) -> AmountReport:
    place = reading.amounts.best_place(amount)
    stated = [f"{one.source} {one.where} ({one.role})" for one in amount.witnesses]
    displayed = [f"{one.where} ({one.role}): {one.text}" for one in amount.displayed]
    currencies = [*(one.currency for one in amount.witnesses), *(one.currency for one in amount.displayed)]
    return AmountReport(
        amount=amount.value,
        currency=next(filter(None, currencies), ""),
        score=amount.score,
        is_chosen=amount is choice.price,
        excluded=amount.excluded,
        features={name: WEIGHTS.get(name, 0.0) for name in sorted(amount.features, key=_by_weight)},
        found=[*stated, *displayed],
        text=place.text if place else "",
    )


def _by_weight(name: str) -> tuple[float, str]:
    return -abs(WEIGHTS.get(name, 0.0)), name
