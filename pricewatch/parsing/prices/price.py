"""Parsing of displayed and machine-readable prices, based on `price_parser`.

A text gives one amount or the reason for a refusal: a wrong price is worse than no price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache

from pricewatch.money import MAX_CENTS, minor_units
from pricewatch.parsing.prices.currency import resolve_currency
from pricewatch.parsing.prices.numbers import MAX_LENGTH, Number, numbers_in
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces

_MAX_AMOUNT = Decimal(10) ** 20
# `1.226` may be 1226 with a thousands separator, unless it starts with zero or the currency has 3 decimals.
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
_MAX_REQUEST_LENGTH = 60


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
    TOO_LONG = "a text that is too long for a price"


@dataclass(frozen=True, slots=True)
class ParsedPrice:
    """An amount and its currency if known, or the reason for a refusal."""

    amount: Decimal | None = None
    currency: str | None = None
    refusal: PriceRefusal | None = None
    # Whether the text has a currency mark, resolved or not.
    marked: bool = False

    def cents(self) -> int | None:
        """The amount in minor units; None without an amount or a currency."""
        if self.amount is None or self.currency is None:
            return None
        return to_cents(self.amount, self.currency)


def parse_price(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> ParsedPrice:
    """Parse the price of a displayed text; `hints` are likely currencies, best first."""
    if len(text) > MAX_LENGTH:
        return ParsedPrice(refusal=PriceRefusal.TOO_LONG)
    numbers = numbers_in(text, currency, hints)
    if not numbers:
        return ParsedPrice(refusal=PriceRefusal.NO_NUMBER)
    marked = exclude_net([number for number in numbers if number.codes] or numbers)
    refusal = _refusal(marked)
    if refusal:
        return ParsedPrice(refusal=refusal, marked=bool(marked[0].codes))
    first = marked[0]
    known = currency if not first.codes or currency in first.codes else None
    return ParsedPrice(
        amount=first.amount, currency=known or resolve_currency(first.codes, hints), marked=bool(first.codes)
    )


def exclude_net(numbers: list[Number]) -> list[Number]:
    """The numbers without net prices, if all others are higher and thus include tax."""
    net = [number.amount for number in numbers if number.role is Role.NET]
    others = [number for number in numbers if number.role is not Role.NET]
    if not net or not others or None in net:
        return numbers
    highest = max(amount for amount in net if amount is not None)
    is_higher = all(one.amount is not None and one.amount > highest for one in others)
    return others if is_higher else numbers


def parse_machine_price(value: object, currency: str | None) -> ParsedPrice:
    """Parse the price of a machine-readable field; a point is the decimal point if that is possible."""
    if isinstance(value, bool) or value is None:
        return ParsedPrice(refusal=PriceRefusal.NO_NUMBER)
    if isinstance(value, (int, float)):
        return _checked(Decimal(str(value)), currency)
    text = collapse_spaces(str(value))
    if len(text) > MAX_LENGTH:
        return ParsedPrice(refusal=PriceRefusal.TOO_LONG)
    try:
        amount = Decimal(text)
    except InvalidOperation:
        parsed = parse_price(text, currency)
        if parsed.amount is None:
            return parsed
        # The sign contradicts the currency field, so the currency is unknown.
        return _checked(parsed.amount, parsed.currency if currency in (None, parsed.currency) else None)
    if _THREE_DECIMALS.fullmatch(text) and minor_units(currency or "") != 3:
        return ParsedPrice(refusal=PriceRefusal.UNCLEAR_NUMBER)
    return _checked(amount, currency)


# The pages of a shop repeat the same few texts.
@lru_cache(maxsize=4096)
def is_on_request(text: str) -> bool:
    """Whether a short text says that the price is available on request or after login."""
    plain = collapse_spaces(text).lower()
    return len(plain) <= _MAX_REQUEST_LENGTH and _ON_REQUEST.search(plain) is not None


def to_cents(amount: Decimal, currency: str) -> int | None:
    """The amount in minor units; None if it has a fraction of a minor unit or is out of range."""
    # Check the size first: scaling `1e999999` would exhaust the memory.
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
    """Round away float noise: `19.9900` and `19.989999999` are 19.99; None if more than noise is lost."""
    # `abs` would raise an error for an exponent of ten digits.
    if amount.copy_abs() >= _MAX_AMOUNT:
        return None
    short = amount.quantize(Decimal(1).scaleb(-decimals))
    return short.normalize() + 0 if abs(amount - short) <= Decimal(1).scaleb(-decimals - 1) else None
