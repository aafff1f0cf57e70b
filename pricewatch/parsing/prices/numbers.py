"""Numbers in a text that may be money: value, currency, and role from the words around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from unicodedata import category, numeric

from pricewatch.money import minor_units
from pricewatch.parsing.prices.currency import resolve_currency
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
from pricewatch.parsing.prices.number_value import amount_of
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


# A longer text is not one of a price.
MAX_LENGTH = 20_000
# More than what `role_from_context` looks at.
_MAX_CONTEXT = 400
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
_DASH = re.compile(r"\s*+(?:-|−|–|—|~|〜|to|bis|à|a|do|tot|till|até|до)\s*+")
_TIMES = re.compile(r"\s*+(?:x|×|\*)\s*+(?:(?:de|of|à)\s*+)?")
_FOR = re.compile(
    r"\s*(?:for|für|pour|por|per|za|voor|за|"
    r"(?:\w+ )?(?:\+|or more|and more|oder mehr|ou plus|et plus|o más|ou mais|o più|of meer|"
    r"lub więcej|eller fler)"
    r"(?: \w+)?:?)\s*"
)
_MAGNITUDE = re.compile(
    r"\s?(?:k|m|mio|mln|mill?|bn|b|tys|tis|tsd|cr|crore|lakh|lac)\b\.?(?!\w)", re.IGNORECASE
)
# As in 1e5; nobody writes a price so.
_EXPONENT = re.compile(r"e[+-]?\d", re.IGNORECASE)
_BOUNDARY = re.compile(f"[{PIECE_BREAK}{BLOCK_BREAK}]")
# Other characters for point, comma and apostrophe between digits.
_SEPARATOR_VARIANTS = {"٫": ".", "．": ".", "·": ".", "․": ".", "‧": ".", "٬": ",", "，": ",", "‚": ","}
_SEPARATOR_VARIANTS |= dict.fromkeys("‘´`ʼ′＇", "'")
_SEPARATOR_VARIANT = re.compile(rf"(?<=\d)[{''.join(_SEPARATOR_VARIANTS)}](?=\d)")
# Characters between two parts of one number; a word after the second part counts something else.
_PART_SEPARATORS = f" .,{PIECE_BREAK}{BLOCK_BREAK}"
_COUNTED = re.compile(r"\s?(?!ce?nts?\b|cts?\b|c\b|kop|коп|øre|öre|gr\b)[^\W\d_]", re.IGNORECASE)
# What stands between the digits of one number that is written unusually: marks, or a letter after a point.
_JOINT = re.compile(r"[.,]?(?:([^\w\s\x21-\x7e]{1,4})|(?<=[.,])[^\W\d_])\d")
_MAX_JOINT = 6
# Unicode categories: punctuation, letter-like marks, combining, invisible and unassigned characters, symbols.
_JOINING = frozenset({"Po", "Pi", "Pf", "Lm", "Sk", "Mn", "Me", "Cc", "Cf", "Cn", "Co", "Cs", "So"})


def numbers_in(text: str, currency: str | None = None, hints: Iterable[str] = ()) -> list[Number]:
    """All numbers in a text that may be money, without percentages; none in a text above MAX_LENGTH."""
    if len(text) > MAX_LENGTH:
        return []
    plain = _SEPARATOR_VARIANT.sub(lambda found: _SEPARATOR_VARIANTS[found[0]], collapse_spaces(text))
    # The sign can be the decimal point, `68€50`; with a second sign, only if it touches both parts.
    pattern = _EURO_CENTS if plain.count("€") == 1 else _TOUCHING_EURO_CENTS
    plain = pattern.sub(r"\1.\2 €", plain)
    if "cent" in plain or "cént" in plain:
        plain = _SPOKEN_CENTS.sub(lambda found: f"{found[1]}.{found[3]:0>2} {found[2]}", plain)
    positions = _positions(plain, currency, hints)
    split = _split_numbers(plain, positions, hints)
    # Words belong to the nearest numbers with a currency: "lowest in 30 days: €9".
    boundaries = [match.start() for match in _BOUNDARY.finditer(plain)]
    labels = _labels(plain, positions, boundaries)
    tails = _tails(plain, positions, boundaries)
    found: list[Number] = []
    for index, (position, label, tail) in enumerate(zip(positions, labels, tails, strict=True)):
        role = _joint_role(plain, positions[index - 1], position) if index else None
        if not position.codes and is_not_money(plain, position.start, position.end):
            role = Role.NOT_MONEY
        amount = (
            None
            if position in split or _is_unclear(plain, position)
            else amount_of(position.digits, resolve_currency(position.codes, hints) or currency)
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
                role=role or role_from_context(label[1], tail[0], is_last=tail[1]),
                negative=_MINUS.search(label[0]) is not None,
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
    whole, fraction = position.digits[: -decimals - 1], position.digits[-decimals:]
    has_point = position.digits[len(whole) : -decimals] in (".", ",")
    return not decimals or (has_point and whole[-1:].isdecimal() and fraction.isdecimal())


def _is_unclear(text: str, position: _Position) -> bool:
    around = text[max(0, position.start - 1) : position.end + 1]
    return (
        _REPLACEMENT in around
        or _continues(text[position.end : position.end + _MAX_JOINT])
        or _continues(text[max(0, position.start - _MAX_JOINT) : position.start][::-1])
        or _MAGNITUDE.match(text, position.end) is not None
        or _EXPONENT.match(text, position.end) is not None
    )


def _continues(neighbours: str) -> bool:
    """Whether unknown marks connect the number to another digit ("19.O9"), or a fraction follows ("19½")."""
    if 0 < numeric(neighbours[:1] or "0", 0) < 1:
        return True
    joint = _JOINT.match(neighbours)
    return joint is not None and all(
        category(mark) in _JOINING and mark not in (PIECE_BREAK, BLOCK_BREAK) for mark in joint[1] or ""
    )


def _labels(text: str, positions: list[_Position], boundaries: list[int]) -> Iterator[tuple[str, str]]:
    """The text before each number, up to one with a currency; and without the piece of that one."""
    start = words_start = 0
    for position in positions:
        end = position.label_end
        first = max(0, end - _MAX_CONTEXT)
        # A boundary after this number is not in the text before it.
        words = text[max(words_start if words_start <= end else start, first) : end]
        yield text[max(start, first) : end], _without_boundaries(words)
        if position.codes:
            start = words_start = position.end
            index = bisect_left(boundaries, start)
            if index < len(boundaries):
                words_start = boundaries[index] + 1


def _tails(text: str, positions: list[_Position], boundaries: list[int]) -> list[tuple[str, bool]]:
    """The text after each number without the piece of the next one with a currency; whether there is none."""
    found: list[tuple[str, bool]] = []
    is_last, end, words_end = True, len(text), -1
    for position in reversed(positions):
        start = position.tail_start
        words = text[start : min(end, start + _MAX_CONTEXT)]
        if words_end >= start:
            words = words[: words_end - start].partition(BLOCK_BREAK)[0]
        found.append((_without_boundaries(words), is_last))
        if position.codes:
            is_last, end = False, position.start
            index = bisect_left(boundaries, end)
            words_end = boundaries[index - 1] if index else -1
    return found[::-1]


def _without_boundaries(text: str) -> str:
    return _BOUNDARY.sub(" ", text).lower()


def _joint_role(text: str, first: _Position, second: _Position) -> Role | None:
    """The role of two numbers from the text between them, without currency marks."""
    between = _without_boundaries(text[first.tail_start : second.label_end])
    if _DASH.fullmatch(between) and not _TIMES.match(text, second.tail_start):
        return Role.RANGE
    # "3 x €10" and "3 for €10" count payments or pieces; "from €10 for €8" counts money.
    if first.codes:
        return None
    return Role.INSTALMENT if _TIMES.fullmatch(between) else Role.VARIANT if _FOR.fullmatch(between) else None
