"""Numbers in a text that may be money: their value, their currency, and what the words around say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from unicodedata import category

from price_parser.parser import parse_number

from pricewatch.money import ISO_4217, minor_units
from pricewatch.parsing.prices.currency import settle
from pricewatch.parsing.prices.currency_marks import (
    BLOCK,
    PIECE,
    Codes,
    believed,
    joined,
    mark_after,
    mark_before,
)
from pricewatch.parsing.prices.not_money import is_no_money
from pricewatch.parsing.prices.price_roles import Role, role_of_words
from pricewatch.parsing.text import squash

# Currencies whose thousands are grouped by hundreds: 1,23,456.
_IN_LAKHS = frozenset({"INR", "PKR", "BDT", "NPR", "LKR"})
# What stands for a byte that could not be decoded, often a no-break space between thousands.
_LOST = "\ufffd"


@dataclass(frozen=True, slots=True)
class Number:
    """One number in a text; an amount of None can be read in two ways."""

    amount: Decimal | None
    codes: Codes
    role: Role
    negative: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a number stands, without and with the marks of a currency around it."""

    digits: str
    start: int
    end: int
    label_end: int
    tail_start: int
    codes: Codes


_GROUPED = r"\d{1,3}(?:[ '’.,]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?"
_NUMBER = re.compile(
    rf"(?P<digits>{_GROUPED}|\d+(?:[.,]\d+)*|(?<!\d)[.,]\d{{1,2}}(?!\d))(?:[.,:]\s?[-−–—]{{1,2}}(?!\d))?"
)
# A minus that touches the amount or its mark; with a space after it, it is a dash.
_MINUS = re.compile(r"(?:^|[\s(])[-−–]$")
_EURO_CENTS = re.compile(r"(\d)\s?€\s?(\d{2})(?![\d.,])")
_PERCENT = re.compile(r"\s?%")
_DASH = re.compile(r"\s*(?:-|−|–|—|~|〜|to|bis|à|a|do|tot|till|até|до)\s*")
_TIMES = re.compile(r"\s*(?:x|×|\*)\s*(?:de|of|à)?\s*")
_FOR = re.compile(
    r"\s*(?:for|für|pour|por|per|za|voor|за|"
    r"(?:\w+ )?(?:\+|or more|and more|oder mehr|ou plus|et plus|o más|ou mais|o più|of meer|"
    r"lub więcej|eller fler)"
    r"(?: \w+)?:?)\s*"
)
_MAGNITUDE = re.compile(
    r"\s?(?:k|m|mio|mln|mill?|bn|b|tys|tis|tsd|cr|crore|lakh|lac)\b\.?(?!\w)", re.IGNORECASE
)
_BOUNDARY = re.compile(f"[{PIECE}{BLOCK}]")
# How other scripts, and typographers, write point, comma and apostrophe between digits.
_SPELLINGS = {"٫": ".", "．": ".", "·": ".", "․": ".", "‧": ".", "٬": ",", "，": ",", "‚": ","}
_SPELLINGS |= dict.fromkeys("‘´`ʼ′＇", "'")
_SPELT = re.compile(rf"(?<=\d)[{''.join(_SPELLINGS)}](?=\d)")
# What may stand between the two halves of a torn number; a word after the second counts something else.
_TEAR = f" .,{PIECE}{BLOCK}"
_COUNTED = re.compile(r"\s?(?!ce?nts?\b|cts?\b|c\b|kop|коп|øre|öre|gr\b)[^\W\d_]", re.IGNORECASE)
# Punctuation and letter-like marks, by Unicode's categories.
_PUNCTUATION = frozenset({"Po", "Pi", "Pf", "Lm", "Sk"})


def numbers_in(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> list[Number]:
    """Every number of a text that may be an amount of money; percentages are left out."""
    plain = _SPELT.sub(lambda found: _SPELLINGS[found[0]], squash(text))
    # The sign as the decimal point, `68€50`; with a second sign there are two prices.
    if plain.count("€") == 1:
        plain = _EURO_CENTS.sub(r"\1.\2 €", plain)
    spots = _spots(plain, currency, hints)
    torn = _torn(plain, spots, hints)
    found: list[Number] = []
    for index, spot in enumerate(spots):
        # Words reach as far as the next number that is money: "lowest in 30 days: €9".
        previous = next((one for one in reversed(spots[:index]) if one.codes), None)
        following = next((one for one in spots[index + 1 :] if one.codes), None)
        label = plain[previous.end if previous else 0 : spot.label_end]
        tail = plain[spot.tail_start : following.start if following else len(plain)]
        role = _joint_role(plain, spots[index - 1], spot) if index else None
        if not spot.codes and is_no_money(plain, spot.start, spot.end):
            role = Role.NO_MONEY
        if role is Role.RANGE:
            found[-1] = replace(found[-1], role=role)
        found.append(
            Number(
                amount=None
                if spot in torn or _is_unclear(plain, spot)
                else _amount(spot.digits, settle(spot.codes, hints) or currency),
                codes=spot.codes,
                role=role
                or _role(label, tail, has_previous=previous is not None, has_following=following is not None),
                negative=_MINUS.search(label) is not None,
                start=spot.start,
                end=spot.end,
            )
        )
    return found


def _spots(text: str, currency: str | None, hints: Iterable[str]) -> list[_Spot]:
    matches = [match for match in _NUMBER.finditer(text) if not _PERCENT.match(text, match.end())]
    spots: list[_Spot] = []
    taken = 0
    for index, match in enumerate(matches):
        start, end = match.span()
        right = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        before, label = mark_before(text[taken:start])
        after, tail = mark_after(text[end:right])
        tail_start = right - len(tail)
        codes = believed(joined(before, after), currency, hints)
        spots.append(_Spot(match.group("digits"), start, end, taken + len(label), tail_start, codes))
        # A mark between two numbers belongs to the nearer one, and where both are as near, to the first.
        is_first = (
            after
            and not before
            and tail_start - len(text[end:tail_start].strip()) - end <= right - tail_start
        )
        taken = tail_start if is_first else end
    return spots


def _torn(text: str, spots: list[_Spot], hints: Iterable[str]) -> set[_Spot]:
    """Neighbours that may be one number, as in "19 .99 €" and "€ 19 99": neither can be read alone."""
    torn: set[_Spot] = set()
    for first, second in pairwise(spots):
        between = text[first.tail_start : second.label_end]
        if between.strip(_TEAR) or (first.codes and second.codes):
            continue
        if first.codes:
            counts = _COUNTED.match(text, second.tail_start) is not None
            is_whole = counts or _is_complete(first, hints)
        else:
            is_whole = not second.codes or (BLOCK in between and _is_complete(second, hints))
        if not is_whole:
            torn |= {first, second}
    return torn


def _is_complete(spot: _Spot, hints: Iterable[str]) -> bool:
    """Whether the number has all the decimals that its currency can have."""
    decimals = minor_units(settle(spot.codes, hints) or "")
    return re.fullmatch(rf".*\d[.,]\d{{{decimals}}}" if decimals else r".*", spot.digits) is not None


def _is_unclear(text: str, spot: _Spot) -> bool:
    around = text[max(0, spot.start - 1) : spot.end + 1]
    return (
        _LOST in around
        or _MAGNITUDE.match(text, spot.end) is not None
        or _is_glue(text[spot.end : spot.end + 2])
        or _is_glue(text[max(0, spot.start - 2) : spot.start][::-1])
    )


def _is_glue(beside: str) -> bool:
    """Whether an unknown mark sticks the number to another one: what the two are together is not known."""
    mark, other = beside[:1], beside[1:]
    return other.isdigit() and not mark.isascii() and category(mark) in _PUNCTUATION


def _label_part(between: str) -> str:
    """Of the words between two numbers, those that may be the second's label: not the first's piece."""
    boundary = _BOUNDARY.search(between)
    return between[boundary.end() :] if boundary else between


def _tail_part(between: str) -> str:
    """Of the words between two numbers, those that may go with the first: not the second's piece or block."""
    last = max(between.rfind(PIECE), between.rfind(BLOCK))
    return between[:last].partition(BLOCK)[0] if last >= 0 else between


def _joint_role(text: str, first: _Spot, second: _Spot) -> Role | None:
    """What two numbers are to each other by what alone stands between them, marks aside."""
    joint = _BOUNDARY.sub(" ", text[first.tail_start : second.label_end]).lower()
    if _DASH.fullmatch(joint):
        return Role.RANGE
    # "3 x €10" and "3 for €10" count payments or pieces; "from €10 for €8" counts money.
    if first.codes:
        return None
    return Role.INSTALMENT if _TIMES.fullmatch(joint) else Role.VARIANT if _FOR.fullmatch(joint) else None


def _role(label: str, tail: str, *, has_previous: bool, has_following: bool) -> Role:
    before = _label_part(label) if has_previous else label
    after = _tail_part(tail) if has_following else tail
    return role_of_words(
        _BOUNDARY.sub(" ", before).lower(), _BOUNDARY.sub(" ", after).lower(), is_last=not has_following
    )


def _amount(number: str, currency: str | None) -> Decimal | None:
    """The number's value under the rules of its currency; None where it can be read in two ways."""
    digits = number.replace(" ", "").replace("'", "").replace("’", "")
    decimals = minor_units(currency) if currency in ISO_4217 else 2
    separators = [ch for ch in digits if ch in ".,"]
    if not separators:
        return Decimal(digits)
    last = separators[-1]
    tail = len(digits) - digits.rindex(last) - 1
    mixed = len(set(separators)) > 1
    if separators.count(last) > 1:
        # A separator that repeats groups thousands; a second kind before it would be nonsense.
        return None if mixed else _grouped(digits, last, in_lakhs=currency in _IN_LAKHS)
    if tail == 3 and not mixed:
        if decimals == 3:
            return parse_number(digits, last)
        if digits.startswith("0"):
            return parse_number(digits, last)
        return _grouped(digits, last)
    if tail == 3 and decimals != 3:
        return None
    if mixed and not _are_groups(digits[: digits.rindex(last)]):
        return None
    if tail > 3 and tail != decimals and set(digits[-tail + 2 :]) != {"0"}:
        return None
    return parse_number(digits, last)


def _are_groups(whole: str) -> bool:
    """Whether the part before the decimals is cut into thousands, or as in India also into hundreds."""
    head, *groups = re.split(r"[.,]", whole)
    return 1 <= len(head) <= 3 and len(groups[-1]) == 3 and all(len(group) in (2, 3) for group in groups)


def _grouped(digits: str, separator: str, *, in_lakhs: bool = False) -> Decimal | None:
    head, *groups = digits.split(separator)
    shorter = {2, 3} if in_lakhs and separator == "," else {3}
    if not 1 <= len(head) <= 3 or len(groups[-1]) != 3 or any(len(group) not in shorter for group in groups):
        return None
    return Decimal(head + "".join(groups))
