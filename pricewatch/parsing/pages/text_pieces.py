"""The texts of a small part of a page, with the role of each and with cents joined to their whole number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pricewatch.parsing.pages.class_names import ClassCues, element_cues
from pricewatch.parsing.pages.element_tree import INLINE, Element, has_many_elements, is_visible_tag
from pricewatch.parsing.prices.currency_marks import BLOCK_BREAK, PIECE_BREAK, mark_after
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces
from pricewatch.parsing.url import is_other_page

CENT_TAGS = frozenset({"sup", "sub", "small"})
_LIST_TAGS = frozenset({"del", "s", "strike"})
_MAX_DEPTH = 40
_LINE_THROUGH = re.compile(r"line-through")
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_SIGNED_CENTS = re.compile(r"€\s?\d{2}")
_CENTS = re.compile(r"\d{2}(?!\d)")
_WHOLE_AT_END = re.compile(r"(?:^|[^\d.,])(?:\d{1,3}(?:[ .,'’]\d{3}){1,5}|\d{1,15})$")
# Longer than a match of the pattern above.
_MAX_END_LENGTH = 32
_DECIMALS = re.compile(r"[.,]\d{1,2}(?!\d)")
_SIGN_AT_END = re.compile(r"\d\s?€$")


@dataclass(slots=True)
class TextPiece:
    """A text with the role from its elements."""

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
    is_small_label = element.tag == "label" and not has_many_elements(element)
    if is_small_label and any(one.get("type") == "checkbox" for one in element.iter("input")):
        # A product that can be added, such as a warranty.
        return Role.EXTRA
    return Role.VARIANT if element.tag in ("option", "select") else None


def text_pieces(
    element: Element,
    page_url: str,
    role: Role | None,
    is_sale: bool,
    is_cents: bool = False,
    is_struck: bool = False,
    depth: int = 0,
    *,
    ignores_class: bool = False,
) -> Iterator[TextPiece]:
    """The displayed texts of an element; `ignores_class` if its own class names no role."""
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
        yield TextPiece("", role, is_cents, is_sale, starts_block=True)
    if element.text and not element.text.isspace():
        yield TextPiece(collapse_spaces(element.text), role, is_cents, is_sale, is_struck)
    for child in element:
        yield from text_pieces(child, page_url, role, is_sale, is_cents, is_struck, depth + 1)
        if child.tail and not child.tail.isspace():
            yield TextPiece(collapse_spaces(child.tail), role, is_cents, is_sale, is_struck)
    if is_block:
        yield TextPiece("", role, is_cents, is_sale, starts_block=True)


def joined_text(pieces: list[TextPiece]) -> tuple[str, list[tuple[int, TextPiece]]]:
    """The joined text, and the start of each piece in it."""
    text = ""
    starts: list[tuple[int, TextPiece]] = []
    is_new_block = was_struck = False
    for piece in pieces:
        if piece.starts_block:
            is_new_block = True
            continue
        # Words that are crossed out with a price are about that price.
        has_amount = any(map(str.isdigit, piece.text)) or bool(mark_after(piece.text)[0])
        if was_struck and piece.is_struck and not has_amount:
            continue
        was_struck = piece.is_struck
        text += _separator(text, piece, is_new_block=is_new_block)
        is_new_block = False
        starts.append((len(text), piece))
        text += piece.text
    return text, starts


def _separator(before: str, piece: TextPiece, *, is_new_block: bool) -> str:
    if not before:
        return ""
    if before[-1].isdecimal() and (piece.text in (".", ",") or _DECIMALS.match(piece.text)):
        return ""
    if before[-1] in ".," and _CENTS.match(piece.text) and before[-2:-1].isdigit():
        return ""
    end = max(0, len(before) - _MAX_END_LENGTH)
    if piece.is_cents and _SIGNED_CENTS.fullmatch(piece.text) and _WHOLE_AT_END.search(before, end):
        return ""
    if piece.is_cents and _are_cents(piece.text):
        if whole := _WHOLE_AT_END.search(before, end):
            return "," if "." in whole[0] else "."
        return "" if _SIGN_AT_END.search(before, end) else f" {PIECE_BREAK} "
    return f" {BLOCK_BREAK} " if is_new_block else f" {PIECE_BREAK} "


def _are_cents(text: str) -> bool:
    """Whether a text is two digits with at most a currency mark; "12 months" is not."""
    rest = text[2:].strip(" *") if _CENTS.match(text) else "?"
    codes, tail = mark_after(rest)
    return not rest or (bool(codes) and not tail.strip(" *."))


def piece_at(starts: list[tuple[int, TextPiece]], position: int) -> TextPiece:
    """The piece at a position of the joined text."""
    found = starts[0][1]
    for start, piece in starts:
        if start > position:
            break
        found = piece
    return found
