"""Prices as people and machines write them, on top of `price_parser`'s reading of numbers.

A text gives one amount or the reason why it gives none: a wrong price is worse than no price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from price_parser.parser import parse_number

from .currency import ISO_4217, NONE, SIGNS, WORDS, currency_code, minor_units, settle
from .roles import Role, role_of_words
from .text import squash

MAX_CENTS = 99_999_999
# What stands for a byte that could not be decoded, often a no-break space between thousands.
_LOST = "\ufffd"
# Stand in a joined text where a piece of text or a whole block of the page ends and the next begins.
PIECE, BLOCK = "\ue000", "\ue001"


class Refusal(StrEnum):
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
    refusal: Refusal | None = None
    # Whether the text itself carries a mark of a currency, settled or not.
    marked: bool = False

    def cents(self) -> int | None:
        """The amount in minor units of its currency; None where there is no amount or no currency."""
        if self.amount is None or self.currency is None:
            return None
        return to_cents(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Number:
    """One number in a text, with what stands around it."""

    amount: Decimal | None
    codes: tuple[str, ...]
    role: Role
    negative: bool
    start: int
    end: int


_GROUPED = r"\d{1,3}(?:[ '’.,٬]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?"
_NUMBER = re.compile(
    rf"(?P<digits>{_GROUPED}|\d+(?:[.,]\d+)*|(?<!\d)[.,]\d{{1,2}}(?!\d))(?:[.,:]\s?[-−–—]{{1,2}}(?!\d))?"
)
# A minus that touches the amount or its mark; with a space after it, it is a dash.
_MINUS = re.compile(r"(?:^|[\s(])[-−–]$")
_EURO_CENTS = re.compile(r"(\d)\s?([€£$])\s?(\d{2})(?![\d.,])")
# `1.226` for machines may be 1226 written for people; only a leading zero or a third decimal coin settles it.
_THREE_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_PERCENT = re.compile(r"\s?%")
_DASH = re.compile(r"\s*(?:-|−|–|—|~|〜|to|bis|à|a|do|tot|till|até|до)\s*")
_TIMES = re.compile(r"\s*(?:x|×|\*)\s*(?:de|of|à)?\s*")
_FOR = re.compile(r"\s*(?:for|für|pour|por|per|za|voor|за)\s*")
_MAGNITUDE = re.compile(
    r"\s?(?:k|m|mio|mln|mill?|bn|b|tys|tis|tsd|cr|crore|lakh|lac)\b\.?(?!\w)", re.IGNORECASE
)
_BETWEEN = f" {PIECE}{BLOCK}"
_BEFORE_MARK = re.compile(rf"([^\s\d{PIECE}{BLOCK}]{{1,12}})$")
_AFTER_MARK = re.compile(rf"[{_BETWEEN}]*([^\s\d{PIECE}{BLOCK}]{{1,12}})")
_BOUNDARY = re.compile(f"[{PIECE}{BLOCK}]")
_TRIMMED = "()[]*:;!,|\"'"
_LONGEST_SIGN = max(map(len, SIGNS))


def parse_price(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> ParsedPrice:
    """The price in a text that a person reads; `currency` is known, `hints` are likely, best first."""
    numbers = numbers_in(text, currency, hints)
    if not numbers:
        return ParsedPrice(refusal=Refusal.NO_NUMBER)
    marked = [number for number in numbers if number.codes] or numbers
    refusal = _refusal(marked)
    if refusal:
        return ParsedPrice(refusal=refusal, marked=bool(marked[0].codes))
    first = marked[0]
    known = currency if not first.codes or currency in first.codes else None
    return ParsedPrice(
        amount=first.amount, currency=known or settle(first.codes, hints), marked=bool(first.codes)
    )


def parse_machine_price(value: object, currency: str | None) -> ParsedPrice:
    """The price in a field for machines, where a point is a decimal point unless the text shows otherwise."""
    if isinstance(value, bool) or value is None:
        return ParsedPrice(refusal=Refusal.NO_NUMBER)
    if isinstance(value, (int, float)):
        return _checked(Decimal(str(value)), currency)
    text = squash(str(value))
    try:
        amount = Decimal(text)
    except InvalidOperation:
        parsed = parse_price(text, currency)
        return parsed if parsed.amount is None else _checked(parsed.amount, parsed.currency)
    if _THREE_DECIMALS.fullmatch(text) and minor_units(currency or "") != 3:
        return ParsedPrice(refusal=Refusal.UNCLEAR_NUMBER)
    return _checked(amount, currency)


def to_cents(amount: Decimal, currency: str) -> int | None:
    """Integer minor units, or None where the amount has a fraction of the smallest coin or is out of range."""
    if not amount.is_finite():
        return None
    scaled = amount.scaleb(minor_units(currency))
    if scaled != scaled.to_integral_value():
        return None
    cents = int(scaled)
    return cents if 1 <= cents <= MAX_CENTS else None


def from_cents(cents: int, currency: str) -> Decimal:
    return Decimal(cents).scaleb(-minor_units(currency))


def numbers_in(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> list[Number]:
    """Every number of a text that may be an amount of money; percentages are left out."""
    plain = _EURO_CENTS.sub(r"\1.\3 \2", squash(text))
    spots = _spots(plain, currency, hints)
    found: list[Number] = []
    for index, spot in enumerate(spots):
        # Words reach as far as the next number that is money: "lowest in 30 days: €9".
        previous = next((one for one in reversed(spots[:index]) if one.codes), None)
        following = next((one for one in spots[index + 1 :] if one.codes), None)
        label = plain[previous.end if previous else 0 : spot.label_end]
        tail = plain[spot.tail_start : following.start if following else len(plain)]
        is_unclear = _MAGNITUDE.match(plain, spot.end) is not None or _LOST in plain[max(0, spot.start - 1) : spot.end + 1]
        code = settle(spot.codes, hints) or currency
        role = _joint_role(plain[spots[index - 1].tail_start : spot.label_end]) if index else None
        if role is Role.RANGE:
            found[-1] = replace(found[-1], role=role)
        found.append(
            Number(
                amount=None if is_unclear else _amount(spot.digits, code),
                codes=spot.codes,
                role=role or _role(label, tail, previous is not None, following is not None),
                negative=_MINUS.search(label) is not None,
                start=spot.start,
                end=spot.end,
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a number stands, without and with the marks of a currency around it."""

    digits: str
    start: int
    end: int
    label_end: int
    tail_start: int
    codes: tuple[str, ...]


def _spots(text: str, currency: str | None, hints: Iterable[str]) -> list[_Spot]:
    matches = [match for match in _NUMBER.finditer(text) if not _PERCENT.match(text, match.end())]
    spots = []
    for index, match in enumerate(matches):
        start, end = match.span()
        left = matches[index - 1].end() if index else 0
        right = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        before, label = _mark_before(text[left:start])
        after, tail = _mark_after(text[end:right])
        codes = _known(_joined(before, after), currency, hints)
        spots.append(_Spot(match.group("digits"), start, end, left + len(label), right - len(tail), codes))
    return spots


def _label_part(between: str) -> str:
    """Of the words between two numbers, those that may be a label of the second: not what ends the first's piece."""
    boundary = _BOUNDARY.search(between)
    return between[boundary.end() :] if boundary else between


def _tail_part(between: str) -> str:
    """Of the words between two numbers, those that may go with the first: not the second's piece, nor its block."""
    last = max(between.rfind(PIECE), between.rfind(BLOCK))
    return between[:last].partition(BLOCK)[0] if last >= 0 else between


def _joint_role(between: str) -> Role | None:
    """What two numbers are to each other by what alone stands between them, marks aside."""
    joint = _BOUNDARY.sub(" ", between).lower()
    pairs = ((_TIMES, Role.INSTALMENT), (_FOR, Role.VARIANT), (_DASH, Role.RANGE))
    return next((role for pattern, role in pairs if pattern.fullmatch(joint)), None)


def _role(label: str, tail: str, has_previous: bool, has_following: bool) -> Role:
    before = _label_part(label) if has_previous else label
    after = _tail_part(tail) if has_following else tail
    return role_of_words(
        _BOUNDARY.sub(" ", before).lower(), _BOUNDARY.sub(" ", after).lower(), is_last=not has_following
    )


def _refusal(numbers: list[Number]) -> Refusal | None:
    first = numbers[0]
    roles = {number.role for number in numbers} - {Role.CURRENT, Role.REGULAR}
    if len({number.amount for number in numbers}) > 1:
        return Refusal.RANGE if Role.RANGE in roles else Refusal.SEVERAL
    if first.amount is None:
        return Refusal.UNCLEAR_NUMBER
    if first.negative:
        return Refusal.NEGATIVE
    for role, refusal in (
        (Role.RANGE, Refusal.RANGE),
        (Role.FROM, Refusal.FROM),
        (Role.INSTALMENT, Refusal.INSTALMENT),
        (Role.PER_UNIT, Refusal.PER_UNIT),
    ):
        if role in roles:
            return refusal
    if roles - {Role.NET}:
        return Refusal.NOT_THE_PRICE
    return Refusal.ZERO if first.amount == 0 else None


def _checked(amount: Decimal, currency: str | None) -> ParsedPrice:
    if not amount.is_finite():
        return ParsedPrice(refusal=Refusal.NO_NUMBER)
    if amount == 0:
        return ParsedPrice(amount=Decimal(0), currency=currency, refusal=Refusal.ZERO)
    if amount < 0:
        return ParsedPrice(refusal=Refusal.NEGATIVE)
    rounded = _without_noise(amount)
    if rounded is None or (currency and to_cents(rounded, currency) is None):
        too_large = amount.scaleb(2) > MAX_CENTS
        return ParsedPrice(refusal=Refusal.OUT_OF_RANGE if too_large else Refusal.UNCLEAR_NUMBER)
    return ParsedPrice(amount=rounded, currency=currency)


def _without_noise(amount: Decimal) -> Decimal | None:
    """The amount at no more than 3 decimals: `19.9900` is 19.99, `19.989999999` is a float's 19.99."""
    short = amount.quantize(Decimal("0.001")) if abs(amount) < Decimal(10) ** 20 else amount
    if abs(amount - short) > Decimal("0.0001"):
        return None
    cents = short.quantize(Decimal("0.01")) if abs(short) < Decimal(10) ** 20 else short
    return cents.normalize() + 0 if cents == short else short.normalize() + 0


def _amount(number: str, currency: str | None) -> Decimal | None:
    """The number's value under the rules of its currency; None where it can be read in two ways."""
    digits = number.replace(" ", "").replace("'", "").replace("’", "").replace("٬", "")
    decimals = minor_units(currency) if currency in ISO_4217 else 2
    separators = [ch for ch in digits if ch in ".,"]
    if not separators:
        return Decimal(digits)
    last = separators[-1]
    tail = len(digits) - digits.rindex(last) - 1
    mixed = len(set(separators)) > 1
    if separators.count(last) > 1:
        # A separator that repeats groups thousands; a second kind before it would be nonsense.
        return None if mixed else _grouped(digits, last)
    if tail == 3 and not mixed:
        if decimals == 3:
            return parse_number(digits, last)
        if digits.startswith("0"):
            return parse_number(digits, last)
        return _grouped(digits, last)
    if tail == 3 and decimals != 3:
        return None
    if tail > 3 and set(digits[-tail + 2 :]) != {"0"}:
        return None
    return parse_number(digits, last)


def _grouped(digits: str, separator: str) -> Decimal | None:
    head, *groups = digits.split(separator)
    if not 1 <= len(head) <= 3 or any(len(group) != 3 for group in groups):
        return None
    return Decimal(head + "".join(groups))


def _mark_before(text: str) -> tuple[tuple[str, ...], str]:
    """The currencies of a mark right before a number, and the text before that mark."""
    match = _BEFORE_MARK.search(text.rstrip(_BETWEEN))
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _LONGEST_SIGN), 0, -1):
        codes = SIGNS.get(run[-length:].upper())
        if codes:
            return codes, text[: match.end(1) - length]
    codes = _word_codes(run)
    return codes, text[: match.start()] if codes else text


def _mark_after(text: str) -> tuple[tuple[str, ...], str]:
    """The currencies of a mark right after a number, and the text after that mark; `$ CAD` is one mark."""
    match = _AFTER_MARK.match(text)
    if match is None:
        return (), text
    run = match.group(1)
    for length in range(min(len(run), _LONGEST_SIGN), 0, -1):
        codes = SIGNS.get(run[:length].upper())
        if codes:
            rest = text[match.start(1) + length :]
            further, beyond = _mark_after(rest) if len(codes) > 1 else ((), rest)
            return (further, beyond) if set(further) & set(codes) else (codes, rest)
    codes = _word_codes(run)
    return codes, text[match.end() :] if codes else text


def _joined(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """What two marks around one number agree on: `$12.99 USD` is in US dollars."""
    shared = tuple(code for code in before if code in after)
    return shared or before or after


def _known(codes: tuple[str, ...], currency: str | None, hints: Iterable[str]) -> tuple[str, ...]:
    """Without a hint, a mark that is also an ordinary word (`km`, `ft`) is that word."""
    return codes if NONE not in codes or currency in codes or settle(codes, hints) else ()


def _word_codes(run: str) -> tuple[str, ...]:
    word = run.strip(_TRIMMED).rstrip(".").strip(_TRIMMED)
    code = currency_code(word) if len(word) == 3 and word.isupper() else None
    return (code,) if code else WORDS.get(word.lower(), ())
