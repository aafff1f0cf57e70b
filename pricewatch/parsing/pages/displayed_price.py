"""Prices in a small part of a page, assembled from the elements that a shop splits them into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from pricewatch.parsing.pages.class_names import ClassCues, element_cues
from pricewatch.parsing.pages.element_tree import (
    INLINE,
    Element,
    describe_element,
    is_visible_tag,
    visible_text,
)
from pricewatch.parsing.prices.currency import resolve_currency
from pricewatch.parsing.prices.currency_marks import BLOCK_BREAK, PIECE_BREAK, mark_after
from pricewatch.parsing.prices.numbers import Number, numbers_in
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces
from pricewatch.parsing.url import is_other_page

_MAX_DEPTH = 40
_MAX_EXTRA_LENGTH = 6

_LIST_TAGS = frozenset({"del", "s", "strike"})
CENT_TAGS = frozenset({"sup", "sub", "small"})
_LINE_THROUGH = re.compile(r"line-through")
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_SIGNED_CENTS = re.compile(r"€\s?\d{2}")
_CENTS = re.compile(r"\d{2}(?!\d)")
_WHOLE_AT_END = re.compile(r"(?:^|[^\d.,])(?:\d{1,3}(?:[ .,'’]\d{3})+|\d+)$")
_DECIMALS = re.compile(r"[.,]\d{1,2}(?!\d)")
_DIGIT_AT_END = re.compile(r"\d$")
_SIGN_AT_END = re.compile(r"\d\s?€$")


# A class with one of these roles does not override a from-price or a range.
_WEAKER = frozenset({Role.NET, Role.SAVING})
_STARTING = frozenset({Role.FROM, Role.RANGE})


@dataclass(slots=True)
class DisplayedPrice:
    """A displayed number with its role and position."""

    amount: Decimal
    codes: tuple[str, ...]
    currency: str | None
    role: Role
    # Whether a class or attribute marks it as a price, not only a currency sign.
    is_labelled: bool
    is_sale: bool
    text: str
    where: str
    # False if only the name of a class gives the role; shops give blocks misleading names.
    has_certain_role: bool = True
    # The words of the block that may be about this number: those before it, and those after the last one.
    words: str = ""
    is_alone: bool = True
    order: int = 0
    element: Element | None = field(default=None, repr=False)


@dataclass(slots=True)
class _Piece:
    text: str
    role: Role | None
    is_cents: bool
    is_sale: bool
    is_struck: bool = False
    starts_block: bool = False


def is_displayed(element: Element, own: ClassCues, style: str | None) -> bool:
    if own.is_hidden or not is_visible_tag(element) or element.get("hidden") is not None:
        return False
    return not style or _NOT_DISPLAYED.search(style) is None


def tag_role(element: Element, style: str | None) -> Role | None:
    if element.tag in _LIST_TAGS:
        return Role.LIST
    if (style and _LINE_THROUGH.search(style)) or element.get("data-a-strike") == "true":
        return Role.LIST
    return Role.VARIANT if element.tag in ("option", "select") else None


def read_prices(
    block: Element,
    page_url: str,
    hints: Iterable[str],
    *,
    role: Role | None,
    is_labelled: bool,
    is_sale: bool,
    is_struck: bool = False,
) -> list[DisplayedPrice]:
    """The prices in a block, each with the role from its element, its text or the block."""
    found = _read_prices(
        block, page_url, hints, role, is_labelled=is_labelled, is_sale=is_sale, is_struck=is_struck
    )
    # A class like `was-price` may name a block that also has the current price.
    if role is not None and role is element_cues(block).role and len({price.amount for price in found}) > 1:
        if role is not Role.RELATED and any(price.role is not role for price in found):
            return _read_prices(block, page_url, hints, None, is_labelled=is_labelled, is_sale=is_sale, ignore_block=True)
    return found


def _read_prices(
    block: Element,
    page_url: str,
    hints: Iterable[str],
    role: Role | None,
    *,
    is_labelled: bool,
    is_sale: bool,
    is_struck: bool = False,
    ignore_block: bool = False,
) -> list[DisplayedPrice]:
    text, pieces = _joined(
        list(_pieces(block, page_url, role, is_sale, is_struck=is_struck, ignores_class=ignore_block))
    )
    found: list[DisplayedPrice] = []
    named_list: list[DisplayedPrice] = []
    struck: set[Decimal] = set()
    where = ""
    end = 0
    numbers = _amounts(text, hints, is_labelled=is_labelled)
    for number in numbers:
        words, end = text[end : number.start], number.end
        if number is numbers[-1]:
            words += f" {text[end:]}"
        if number.amount is None:
            continue
        piece = _piece_at(pieces, number.start)
        own = piece.role
        overrides = own not in (None, Role.REGULAR) and not (own in _WEAKER and number.role in _STARTING)
        final_role = own if own and overrides else number.role
        if final_role is Role.CURRENT and own is Role.REGULAR:
            final_role = Role.REGULAR
        where = where or describe_element(block)
        found.append(
            DisplayedPrice(
                amount=number.amount,
                codes=number.codes,
                currency=resolve_currency(number.codes, hints) if number.codes else None,
                role=Role.SAVING if number.negative else final_role,
                is_labelled=is_labelled,
                is_sale=piece.is_sale,
                text=collapse_spaces(text.replace(PIECE_BREAK, " ").replace(BLOCK_BREAK, " "))[:80],
                where=where,
                has_certain_role=final_role is number.role or piece.is_struck or own is Role.RELATED,
                words=words,
                is_alone=len(numbers) == 1,
                element=block,
            )
        )
        if piece.is_struck:
            struck.add(number.amount)
        elif final_role is Role.LIST and own is Role.LIST:
            named_list.append(found[-1])
    _strike_repeated(found, struck)
    if len(named_list) == 1 and _is_the_only_price(found, named_list[0], block):
        named_list[0].role = Role.REGULAR
    return found


def tag_text(tag: Element) -> str:
    """The text of a price tag with breaks between its elements, and a point before separate cents.

    Crossed-out text counts only if there is no other text.
    """
    pieces = list(_pieces(tag, "", None, is_sale=False))
    return _joined([one for one in pieces if not one.is_struck])[0] or _joined(pieces)[0]


def line_text(line: Element) -> str:
    """The text of an element with breaks between its parts."""
    return _joined(list(_pieces(line, "", None, is_sale=False)))[0]


def texts_with_roles(block: Element, page_url: str, role: Role | None) -> Iterator[tuple[str, Role | None]]:
    """The texts of a block, each with the role from its elements."""
    for piece in _pieces(block, page_url, role, is_sale=False):
        if piece.text:
            yield piece.text, piece.role


def _strike_repeated(prices: list[DisplayedPrice], struck: set[Decimal]) -> None:
    """Treat the repetition of a crossed-out price, such as text for screen readers, as a list price."""
    current = [price for price in prices if price.role in (Role.CURRENT, Role.REGULAR)]
    lowest = min((price.amount for price in current), default=None)
    for price in current:
        if price.amount in struck and lowest is not None and lowest < price.amount:
            price.role = Role.LIST


def _is_the_only_price(prices: list[DisplayedPrice], listed: DisplayedPrice, block: Element) -> bool:
    """Whether a price that only a class name marks as a list price is the only price of the block."""
    others = [price for price in prices if price is not listed and price.role is not Role.NET]
    # An empty price element is filled by a script, so the current price is not in the page.
    empty = (
        one
        for one in block.iter()
        if one is not block
        and element_cues(one).is_price
        and not visible_text(one, _MAX_EXTRA_LENGTH).strip()
    )
    return not others and next(empty, None) is None


def _amounts(text: str, hints: Iterable[str], *, is_labelled: bool) -> list[Number]:
    """The numbers that are money: those with a currency, or else the only number of a labelled tag."""
    all_numbers = numbers_in(text, None, hints)
    numbers = [number for number in all_numbers if number.amount]
    marked = [number for number in numbers if number.codes]
    if marked or not is_labelled:
        return marked
    if zeros := [number for number in all_numbers if number.codes and number.amount == 0]:
        return [replace(number, role=Role.ZERO) for number in zeros]
    is_bare = len(numbers) == 1 and len(text) - (numbers[0].end - numbers[0].start) <= _MAX_EXTRA_LENGTH
    return numbers if is_bare else []


def _pieces(
    element: Element,
    page_url: str,
    role: Role | None,
    is_sale: bool,
    is_cents: bool = False,
    is_struck: bool = False,
    depth: int = 0,
    *,
    ignores_class: bool = False,
) -> Iterator[_Piece]:
    own, style = element_cues(element), element.get("style")
    if depth > _MAX_DEPTH or not is_displayed(element, own, style):
        return
    by_tag = tag_role(element, style)
    is_struck = is_struck or by_tag is Role.LIST or own.is_struck
    role = by_tag or (None if ignores_class else own.role) or role
    if element.tag == "a" and is_other_page(page_url, element.get("href")):
        role = Role.RELATED
    is_sale = is_sale or own.is_sale
    is_cents = is_cents or element.tag in CENT_TAGS or own.is_cents
    is_block = element.tag not in INLINE
    if is_block:
        yield _Piece("", role, is_cents, is_sale, starts_block=True)
    if element.text and not element.text.isspace():
        yield _Piece(collapse_spaces(element.text), role, is_cents, is_sale, is_struck)
    for child in element:
        yield from _pieces(child, page_url, role, is_sale, is_cents, is_struck, depth + 1)
        if child.tail and not child.tail.isspace():
            yield _Piece(collapse_spaces(child.tail), role, is_cents, is_sale, is_struck)
    if is_block:
        yield _Piece("", role, is_cents, is_sale, starts_block=True)


def _joined(pieces: list[_Piece]) -> tuple[str, list[tuple[int, _Piece]]]:
    """The joined text, and the start of each piece in it."""
    text = ""
    starts: list[tuple[int, _Piece]] = []
    is_new_block = was_struck = False
    for piece in pieces:
        if piece.starts_block:
            is_new_block = True
            continue
        # Words that are crossed out with a price are about that price.
        if was_struck and piece.is_struck and not any(map(str.isdigit, piece.text)):
            if not mark_after(piece.text)[0]:
                continue
        was_struck = piece.is_struck
        text += _separator(text, piece, is_new_block=is_new_block)
        is_new_block = False
        starts.append((len(text), piece))
        text += piece.text
    return text, starts


def _separator(before: str, piece: _Piece, *, is_new_block: bool) -> str:
    if not before:
        return ""
    if piece.text in (".", ",") and _DIGIT_AT_END.search(before):
        return ""
    if _DECIMALS.match(piece.text) and _DIGIT_AT_END.search(before):
        return ""
    if before[-1] in ".," and _CENTS.match(piece.text) and before[-2:-1].isdigit():
        return ""
    if piece.is_cents and _SIGNED_CENTS.fullmatch(piece.text) and _WHOLE_AT_END.search(before):
        return ""
    if piece.is_cents and _are_cents(piece.text):
        if whole := _WHOLE_AT_END.search(before):
            return "," if "." in whole[0] else "."
        return "" if _SIGN_AT_END.search(before) else f" {PIECE_BREAK} "
    return f" {BLOCK_BREAK} " if is_new_block else f" {PIECE_BREAK} "


def _are_cents(text: str) -> bool:
    """Whether a text is two digits with at most a currency mark; "12 months" is not."""
    rest = text[2:].strip(" *") if _CENTS.match(text) else "?"
    codes, tail = mark_after(rest)
    return not rest or (bool(codes) and not tail.strip(" *."))


def _piece_at(starts: list[tuple[int, _Piece]], position: int) -> _Piece:
    """The piece at a position of the joined text."""
    found = starts[0][1]
    for start, piece in starts:
        if start > position:
            break
        found = piece
    return found
