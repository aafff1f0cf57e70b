"""The prices of a quarantined page from which a person chooses one.

The details of a quarantined offer hold the candidates of the reader; rows of earlier versions hold no numbers
and no paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.parsing.pages.sanitized_html import PageMark
from pricewatch.parsing.prices.price import to_cents
from pricewatch.vocabulary import Availability

# What a person can say about the stock of a quarantined page.
CHOOSABLE = (Availability.IN_STOCK, Availability.OUT_OF_STOCK, Availability.BACKORDER)
_AVAILABILITY_EVIDENCE = re.compile(r"availability: ([A-Z_]+)")
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    amount: Decimal
    currency: str | None
    role: str
    source: str
    where: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class PriceOption:
    """One amount in one currency, with all candidates that have it; its number is that of the first one."""

    number: int
    amount: Decimal
    currency: str | None
    text: str
    where: str
    # What the reader took it for, and where it found it.
    roles: tuple[str, ...]
    sources: tuple[str, ...]
    numbers: tuple[int, ...]
    # The CSS selectors of the elements that display it, and the text of each.
    places: tuple[tuple[str, str], ...]

    @property
    def price(self) -> Money | None:
        """None if the currency is not known."""
        return self.price_in(self.currency) if self.currency else None

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(path for path, _ in self.places))

    @property
    def label(self) -> str:
        """The price, or the amount without a currency."""
        return str(self.price or self.amount)

    def price_in(self, currency: str) -> Money | None:
        """The price in a currency; None if the amount is not valid in it."""
        return Money.of(to_cents(self.amount, currency), currency)

    def describe(self) -> str:
        money = self.label if self.currency else f"{self.label} (no currency)"
        return f"{money}, {' and '.join(self.roles)}, from {' and '.join(self.sources)}: {self.text!r}"


def price_options(details: Mapping[str, Any]) -> list[PriceOption]:
    """The distinct prices among the candidates; a bare number joins the only price with its amount."""
    candidates = _candidates(details.get("candidates"))
    groups: dict[tuple[Decimal, str | None], list[_Candidate]] = {}
    for one in candidates:
        named = {other.currency for other in candidates if other.amount == one.amount and other.currency}
        currency = one.currency or (next(iter(named)) if len(named) == 1 else None)
        groups.setdefault((one.amount, currency), []).append(one)
    return [_option(currency, members) for (_, currency), members in groups.items()]


def option_of(options: Sequence[PriceOption], number: int) -> PriceOption:
    """The price with this candidate; raise UserError if there is none."""
    for option in options:
        if number in option.numbers:
            return option
    if not options:
        raise UserError("The page has no candidates to choose from.")
    known = ", ".join(str(option.number) for option in options)
    raise UserError(f"There is no candidate {number}. Known: {known}.")


def page_marks(options: Iterable[PriceOption]) -> list[PageMark]:
    """The places of the prices on their page, each with the number of its price."""
    return [PageMark(path, text, str(option.number)) for option in options for path, text in option.places]


def evidence_availability(evidence: Iterable[object]) -> tuple[Availability, str] | None:
    """The availability in the evidence of a page, with its line; None if no line names one."""
    for line in evidence:
        if (match := _AVAILABILITY_EVIDENCE.match(str(line))) and match[1] in Availability.__members__:
            return Availability(match[1]), str(line)
    return None


def read_availability(offer: Mapping[str, Any], details: Mapping[str, Any]) -> Availability | None:
    """What the reader found out about the stock of a quarantined page; None if it is not known."""
    stated = evidence_availability(details.get("evidence") or ())
    words = [str(offer.get("availability") or ""), str(stated[0]) if stated else ""]
    known = [word for word in words if word in Availability.__members__ and word != Availability.UNKNOWN]
    return Availability(known[0]) if known else None


def _candidates(stored: Any) -> list[_Candidate]:
    rows = [row for row in stored if isinstance(row, Mapping)] if isinstance(stored, list) else []
    numbers = [row.get("number") for row in rows]
    if len({number for number in numbers if type(number) is int and number > 0}) < len(rows):
        numbers = list(range(1, len(rows) + 1))
    found = [_candidate(number, row) for number, row in zip(numbers, rows, strict=True)]
    return sorted((one for one in found if one is not None), key=lambda one: one.number)


def _candidate(number: Any, row: Mapping[str, Any]) -> _Candidate | None:
    """None for an amount that is never stored, such as zero."""
    try:
        amount = Decimal(str(row.get("amount")))
    except InvalidOperation:
        return None
    if not amount.is_finite() or not 0 < amount <= MAX_CENTS:
        return None
    texts = {name: str(row.get(name) or "")[:_MAX_TEXT] for name in ("role", "source", "where", "text")}
    currency = row.get("currency")
    path = row.get("path")
    return _Candidate(
        number,
        amount,
        currency if currency in ISO_4217 else None,
        path=path if isinstance(path, str) else "",
        **texts,
    )


def _option(currency: str | None, members: list[_Candidate]) -> PriceOption:
    first = members[0]
    return PriceOption(
        number=first.number,
        amount=first.amount,
        currency=currency,
        text=first.text,
        where=first.where,
        roles=tuple(dict.fromkeys(one.role for one in members)),
        sources=tuple(dict.fromkeys(one.source for one in members)),
        numbers=tuple(one.number for one in members),
        places=tuple((one.path, one.text) for one in members if one.path),
    )
