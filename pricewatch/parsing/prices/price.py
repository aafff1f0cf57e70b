"""Prices as people and machines write them, on top of `price_parser`'s reading of numbers.

A text gives one amount or the reason why it gives none: a wrong price is worse than no price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from pricewatch.money import MAX_CENTS, minor_units
from pricewatch.parsing.prices.currency import settle
from pricewatch.parsing.prices.numbers import Number, numbers_in
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import squash

_HUGE = Decimal(10) ** 20
# `1.226` for machines may be 1226 written for people; only a leading zero or a third decimal coin settles it.
_THREE_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")

_ON_REQUEST = re.compile(
    r"^\W*(?:please )?(?:(?:price (?:on|upon) (?:request|application)|"
    r"(?:call|ask|contact us|email us) for (?:a )?(?:price|pricing|quote|rent)|"
    r"(?:log|sign)[ -]?in (?:to|for) (?:\w+ ){0,3}(?:price|pricing)s?|"
    r"preise? auf anfrage|preis a\.\s?a|(?:anmelden|einloggen), um (?:\w+ ){0,2}preise?|"
    r"preise? nach anmeldung|"
    r"prix sur demande|connectez-vous pour (?:\w+ ){0,2}prix|precio (?:a consultar|bajo pedido)|"
    r"consultar precio|"
    r"prezzo su richiesta|preço sob consulta|prijs op aanvraag|cena na (?:zapytanie|dotaz|vyžádání)|"
    r"pris på (?:begäran|forespørsel|forespørgsel)|hinta pyynnöstä|preț la cerere|цена по запросу)\b|"
    r"価格はお問い合わせ|価格応談)"
)
_LONGEST_REQUEST = 60


class PriceRefusal(StrEnum):
    """Why a text gives no price."""

    NO_NUMBER = "no number"
    SEVERAL = "several numbers"
    RANGE = "a range"
    FROM = "a from-price"
    PER_UNIT = "a price per unit"
    INSTALMENT = "an instalment"
    NOT_THE_PRICE = "another amount than the price"
    ZERO = "zero"
    NEGATIVE = "negative"
    UNCLEAR_NUMBER = "a number that can be read in two ways"
    OUT_OF_RANGE = "out of range"


@dataclass(frozen=True, slots=True)
class ParsedPrice:
    """An amount with the currency that is known for it, or the refusal that says why there is none."""

    amount: Decimal | None = None
    currency: str | None = None
    refusal: PriceRefusal | None = None
    # Whether the text itself carries a mark of a currency, settled or not.
    marked: bool = False

    def cents(self) -> int | None:
        """The amount in minor units of its currency; None where there is no amount or no currency."""
        if self.amount is None or self.currency is None:
            return None
        return to_cents(self.amount, self.currency)


def parse_price(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> ParsedPrice:
    """The price in a text that a person reads; `currency` is known, `hints` are likely, best first."""
    numbers = numbers_in(text, currency, hints)
    if not numbers:
        return ParsedPrice(refusal=PriceRefusal.NO_NUMBER)
    marked = without_net([number for number in numbers if number.codes] or numbers)
    refusal = _refusal(marked)
    if refusal:
        return ParsedPrice(refusal=refusal, marked=bool(marked[0].codes))
    first = marked[0]
    known = currency if not first.codes or currency in first.codes else None
    return ParsedPrice(
        amount=first.amount, currency=known or settle(first.codes, hints), marked=bool(first.codes)
    )


def without_net(numbers: list[Number]) -> list[Number]:
    """The numbers without those that are labelled as prices without tax, if others are the price with it."""
    net = [number.amount for number in numbers if number.role is Role.NET]
    others = [number for number in numbers if number.role is not Role.NET]
    if not net or not others or None in net:
        return numbers
    highest = max(amount for amount in net if amount is not None)
    is_higher = all(one.amount is not None and one.amount > highest for one in others)
    return others if is_higher else numbers


def parse_machine_price(value: object, currency: str | None) -> ParsedPrice:
    """The price in a field for machines, where a point is a decimal point unless the text shows otherwise."""
    if isinstance(value, bool) or value is None:
        return ParsedPrice(refusal=PriceRefusal.NO_NUMBER)
    if isinstance(value, (int, float)):
        return _checked(Decimal(str(value)), currency)
    text = squash(str(value))
    try:
        amount = Decimal(text)
    except InvalidOperation:
        parsed = parse_price(text, currency)
        if parsed.amount is None:
            return parsed
        # A sign that contradicts the field for the currency: neither is believed.
        return _checked(parsed.amount, parsed.currency if currency in (None, parsed.currency) else None)
    if _THREE_DECIMALS.fullmatch(text) and minor_units(currency or "") != 3:
        return ParsedPrice(refusal=PriceRefusal.UNCLEAR_NUMBER)
    return _checked(amount, currency)


def is_on_request(text: str) -> bool:
    """Whether a short text stands where a price would, and says that one has to ask or log in for it."""
    plain = squash(text).lower()
    return len(plain) <= _LONGEST_REQUEST and _ON_REQUEST.search(plain) is not None


def to_cents(amount: Decimal, currency: str) -> int | None:
    """Integer minor units; None where the amount has a fraction of the smallest coin or is out of range."""
    # Before anything is done with it: `1e999999` is a number, and its digits fill the memory.
    if not amount.is_finite() or amount > MAX_CENTS:
        return None
    scaled = amount.scaleb(minor_units(currency))
    if scaled != scaled.to_integral_value():
        return None
    cents = int(scaled)
    return cents if 1 <= cents <= MAX_CENTS else None


def _refusal(numbers: list[Number]) -> PriceRefusal | None:
    first = numbers[0]
    roles = {number.role for number in numbers} - {Role.CURRENT, Role.REGULAR}
    if len({number.amount for number in numbers}) > 1:
        return PriceRefusal.RANGE if Role.RANGE in roles else PriceRefusal.SEVERAL
    if first.amount is None:
        return PriceRefusal.UNCLEAR_NUMBER
    if first.negative:
        return PriceRefusal.NEGATIVE
    for role, refusal in (
        (Role.RANGE, PriceRefusal.RANGE),
        (Role.FROM, PriceRefusal.FROM),
        (Role.INSTALMENT, PriceRefusal.INSTALMENT),
        (Role.PER_UNIT, PriceRefusal.PER_UNIT),
    ):
        if role in roles:
            return refusal
    if roles - {Role.NET}:
        return PriceRefusal.NOT_THE_PRICE
    return PriceRefusal.ZERO if first.amount == 0 else None


def _checked(amount: Decimal, currency: str | None) -> ParsedPrice:
    if not amount.is_finite():
        return ParsedPrice(refusal=PriceRefusal.NO_NUMBER)
    if amount == 0:
        return ParsedPrice(amount=Decimal(0), currency=currency, refusal=PriceRefusal.ZERO)
    if amount < 0:
        return ParsedPrice(refusal=PriceRefusal.NEGATIVE)
    rounded = _without_noise(amount, max(3, minor_units(currency or "")))
    if rounded is None or (currency and to_cents(rounded, currency) is None):
        too_large = amount > Decimal(MAX_CENTS).scaleb(-minor_units(currency or ""))
        return ParsedPrice(refusal=PriceRefusal.OUT_OF_RANGE if too_large else PriceRefusal.UNCLEAR_NUMBER)
    return ParsedPrice(amount=rounded, currency=currency)


def _without_noise(amount: Decimal, decimals: int) -> Decimal | None:
    """The amount at no more than 3 or 4 decimals: `19.9900` is 19.99, `19.989999999` is a float's 19.99."""
    if abs(amount) >= _HUGE:
        return None
    short = amount.quantize(Decimal(1).scaleb(-decimals))
    return short.normalize() + 0 if abs(amount - short) <= Decimal(1).scaleb(-decimals - 1) else None
