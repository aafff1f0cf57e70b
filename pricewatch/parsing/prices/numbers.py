"""Numbers in a text that may be money: value, currency, and role from the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from unicodedata import category

from price_parser.parser import parse_number

from pricewatch.money import ISO_4217, minor_units
from pricewatch.parsing.prices.currency import INDIAN_GROUPING, resolve_currency
from pricewatch.parsing.prices.currency_marks import (
    BLOCK_BREAK,
    PIECE_BREAK,
    Codes,
    combine_codes,
    mark_after,
    mark_before,
    recognised_codes,
)
from pricewatch.parsing.prices.not_money import is_not_money
from pricewatch.parsing.prices.price_roles import Role, role_from_context
from pricewatch.parsing.text import collapse_spaces

# Replacement character of an undecodable byte, often a no-break space between thousands.
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Number:
    """One number in a text; its amount is None if it can be read in two ways."""

    amount: Decimal | None
    codes: Codes
    role: Role
    negative: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of a number, without and with the currency marks around it."""

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
# A minus sign touches the amount or its mark; with a space after it, it is a dash.
_MINUS = re.compile(r"(?:^|[\s(])[-−–]$")
_EURO_CENTS = re.compile(r"(\d)\s?€\s?(\d{2})(?![\d.,])")
_TOUCHING_EURO_CENTS = re.compile(r"(\d)€(\d{2})(?![\d.,]|\s?€)")
# For screen readers: "299 reais com 90 centavos".
_SPOKEN_CENTS = re.compile(
    r"(\d)\s(reais|real|pesos|euros?|dollars?)\s(?:com|con|and|y|e|et)\s(\d{1,2})\s(?:centavos?|c[ée]ntimos?|cents?|centimes?)"
)
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
_BOUNDARY = re.compile(f"[{PIECE_BREAK}{BLOCK_BREAK}]")
# Other characters for point, comma and apostrophe between digits.
_SEPARATOR_VARIANTS = {"٫": ".", "．": ".", "·": ".", "․": ".", "‧": ".", "٬": ",", "，": ",", "‚": ","}
_SEPARATOR_VARIANTS |= dict.fromkeys("‘´`ʼ′＇", "'")
_SEPARATOR_VARIANT = re.compile(rf"(?<=\d)[{''.join(_SEPARATOR_VARIANTS)}](?=\d)")
# Characters between two parts of one number; a word after the second part counts something else.
_PART_SEPARATORS = f" .,{PIECE_BREAK}{BLOCK_BREAK}"
_COUNTED = re.compile(r"\s?(?!ce?nts?\b|cts?\b|c\b|kop|коп|øre|öre|gr\b)[^\W\d_]", re.IGNORECASE)
# Unicode categories of punctuation and letter-like marks.
_PUNCTUATION = frozenset({"Po", "Pi", "Pf", "Lm", "Sk"})


def numbers_in(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> list[Number]:
    """All numbers in a text that may be money; percentages are left out."""
    plain = _SEPARATOR_VARIANT.sub(lambda found: _SEPARATOR_VARIANTS[found[0]], collapse_spaces(text))
    # The sign can be the decimal point, `68€50`; with a second sign, only if it touches both parts.
    pattern = _EURO_CENTS if plain.count("€") == 1 else _TOUCHING_EURO_CENTS
    plain = pattern.sub(r"\1.\2 €", plain)
    if "cent" in plain or "cént" in plain:
        plain = _SPOKEN_CENTS.sub(lambda found: f"{found[1]}.{found[3]:0>2} {found[2]}", plain)
    positions = _positions(plain, currency, hints)
    split = _split_numbers(plain, positions, hints)
    found: list[Number] = []
    for index, position in enumerate(positions):
        # Words belong to the nearest numbers with a currency: "lowest in 30 days: €9".
        previous = next((one for one in reversed(positions[:index]) if one.codes), None)
        following = next((one for one in positions[index + 1 :] if one.codes), None)
        label = plain[previous.end if previous else 0 : position.label_end]
        tail = plain[position.tail_start : following.start if following else len(plain)]
        role = _joint_role(plain, positions[index - 1], position) if index else None
        if not position.codes and is_not_money(plain, position.start, position.end):
            role = Role.NOT_MONEY
        amount = (
            None
            if position in split or _is_unclear(plain, position)
            else _amount(position.digits, resolve_currency(position.codes, hints) or currency)
        )
        if role is Role.RANGE:
            lower = found[-1].amount
            # "reduced from €30 to €20": a range does not go down.
            is_reduced = amount is not None and lower is not None and amount < lower
            found[-1] = replace(found[-1], role=Role.LIST if is_reduced else role)
            role = Role.CURRENT if is_reduced else role
        found.append(
            Number(
                amount=amount,
                codes=position.codes,
                role=role
                or _role(label, tail, has_previous=previous is not None, has_following=following is not None),
                negative=_MINUS.search(label) is not None,
                start=position.start,
                end=position.end,
            )
        )
    return found


def _positions(text: str, currency: str | None, hints: Iterable[str]) -> list[_Position]:
    matches = [match for match in _NUMBER.finditer(text) if not _PERCENT.match(text, match.end())]
    positions: list[_Position] = []
    taken = 0
    for index, match in enumerate(matches):
        start, end = match.span()
        right = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        before, label = mark_before(text[taken:start])
        after, tail = mark_after(text[end:right])
        tail_start = right - len(tail)
        codes = recognised_codes(combine_codes(before, after), currency, hints)
        positions.append(_Position(match.group("digits"), start, end, taken + len(label), tail_start, codes))
        # A mark between two numbers belongs to the nearer one; at equal distance, to the first.
        is_first = (
            after
            and not before
            and tail_start - len(text[end:tail_start].strip()) - end <= right - tail_start
        )
        taken = tail_start if is_first else end
    return positions


def _split_numbers(text: str, positions: list[_Position], hints: Iterable[str]) -> set[_Position]:
    """Neighbours that may be two parts of one number, as in "19 .99 €" and "€ 19 99"."""
    split: set[_Position] = set()
    for first, second in pairwise(positions):
        between = text[first.tail_start : second.label_end]
        if between.strip(_PART_SEPARATORS) or (first.codes and second.codes):
            continue
        if first.codes:
            counts = _COUNTED.match(text, second.tail_start) is not None
            is_whole = counts or _is_complete(first, hints)
        else:
            is_whole = not second.codes or (BLOCK_BREAK in between and _is_complete(second, hints))
        if not is_whole:
            split |= {first, second}
    return split


def _is_complete(position: _Position, hints: Iterable[str]) -> bool:
    """Whether the number has all decimals of its currency."""
    decimals = minor_units(resolve_currency(position.codes, hints) or "")
    return re.fullmatch(rf".*\d[.,]\d{{{decimals}}}" if decimals else r".*", position.digits) is not None


def _is_unclear(text: str, position: _Position) -> bool:
    around = text[max(0, position.start - 1) : position.end + 1]
    return (
        _REPLACEMENT in around
        or _MAGNITUDE.match(text, position.end) is not None
        or _joins_digits(text[position.end : position.end + 2])
        or _joins_digits(text[max(0, position.start - 2) : position.start][::-1])
    )


def _joins_digits(neighbours: str) -> bool:
    """Whether an unknown mark connects the number to another digit."""
    mark, other = neighbours[:1], neighbours[1:]
    return other.isdigit() and not mark.isascii() and category(mark) in _PUNCTUATION


def _label_part(between: str) -> str:
    """The part of a text between two numbers that may label the second: not the piece of the first."""
    boundary = _BOUNDARY.search(between)
    return between[boundary.end() :] if boundary else between


def _tail_part(between: str) -> str:
    """The part of a text between two numbers that may belong to the first: not the piece of the second."""
    last = max(between.rfind(PIECE_BREAK), between.rfind(BLOCK_BREAK))
    return between[:last].partition(BLOCK_BREAK)[0] if last >= 0 else between


def _joint_role(text: str, first: _Position, second: _Position) -> Role | None:
    """The role of two numbers from the text between them, without currency marks."""
    between = _BOUNDARY.sub(" ", text[first.tail_start : second.label_end]).lower()
    if _DASH.fullmatch(between) and not _TIMES.match(text, second.tail_start):
        return Role.RANGE
    # "3 x €10" and "3 for €10" count payments or pieces; "from €10 for €8" counts money.
    if first.codes:
        return None
    return Role.INSTALMENT if _TIMES.fullmatch(between) else Role.VARIANT if _FOR.fullmatch(between) else None


def _role(label: str, tail: str, *, has_previous: bool, has_following: bool) -> Role:
    before = _label_part(label) if has_previous else label
    after = _tail_part(tail) if has_following else tail
    return role_from_context(
        _BOUNDARY.sub(" ", before).lower(), _BOUNDARY.sub(" ", after).lower(), is_last=not has_following
    )


def _amount(number: str, currency: str | None) -> Decimal | None:
    """The value of a number by the rules of its currency; None if it can be read in two ways."""
    digits = number.replace(" ", "").replace("'", "").replace("’", "")
    decimals = minor_units(currency) if currency in ISO_4217 else 2
    separators = [ch for ch in digits if ch in ".,"]
    if not separators:
        return Decimal(digits)
    last = separators[-1]
    tail = len(digits) - digits.rindex(last) - 1
    mixed = len(set(separators)) > 1
    if separators.count(last) > 1:
        # A repeated separator groups thousands; with a second kind before it, the number is not valid.
        return None if mixed else _grouped(digits, last, is_indian=currency in INDIAN_GROUPING)
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
    """Whether the integer part is grouped by thousands, or by hundreds as in India."""
    head, *groups = re.split(r"[.,]", whole)
    return 1 <= len(head) <= 3 and len(groups[-1]) == 3 and all(len(group) in (2, 3) for group in groups)


def _grouped(digits: str, separator: str, *, is_indian: bool = False) -> Decimal | None:
    head, *groups = digits.split(separator)
    shorter = {2, 3} if is_indian and separator == "," else {3}
    if not 1 <= len(head) <= 3 or len(groups[-1]) != 3 or any(len(group) not in shorter for group in groups):
        return None
    return Decimal(head + "".join(groups))
