"""Roles of a price from the text around its element: its line, the label of its row, its neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from pricewatch.parsing.pages.displayed_price import line_text
from pricewatch.parsing.pages.element_tree import INLINE, Element, raw_text, short_text, text_within
from pricewatch.parsing.prices.numbers import numbers_in
from pricewatch.parsing.prices.price_roles import Role, includes_tax, role_from_context
from pricewatch.parsing.text import collapse_spaces

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DIGIT = re.compile(r"\d")
_MAX_AROUND_LENGTH = 300
_MAX_LABEL_LENGTH = 90
_MAX_WRAPPERS = 3


def role_from_surroundings(element: Element, amount: Decimal, hints: Sequence[str]) -> Role:
    """The role of a price from the text around its element: "From <b>€10</b>", "Warranty <b>€5</b>"."""
    own = raw_text(element)
    role = _role_on_line(element, own, amount, hints)
    if role is not Role.CURRENT:
        return role
    node, parent = element, element.getparent()
    for _ in range(_MAX_WRAPPERS):
        if parent is None or parent.tag == "body":
            return Role.CURRENT
        around = text_within(parent, _MAX_AROUND_LENGTH)
        if around is None:
            return Role.CURRENT
        before, after = _text_before(node, parent), _text_after(node)
        if before.strip() or after.strip():
            label = _NUMBER.split(collapse_spaces(before))[-1]
            tail = _NUMBER.split(collapse_spaces(after))
            role = role_from_context(label.lower(), tail[0].lower(), is_last=len(tail) == 1)
            # The text before it may belong to another price: "€105 ex VAT", "€126 inc VAT".
            return Role.CURRENT if role is Role.NET and includes_tax(own.lower()) else role
        if around.strip() != own.strip():
            return Role.CURRENT
        node, parent = parent, parent.getparent()
    return Role.CURRENT


def _role_on_line(element: Element, own: str, amount: Decimal, hints: Sequence[str]) -> Role:
    """The role of an amount in the text of its paragraph, cell or box."""
    line = element
    while line.tag in INLINE and (parent := line.getparent()) is not None:
        line = parent
    if line is element or line.tag == "body":
        return Role.CURRENT
    text = text_within(line, _MAX_AROUND_LENGTH)
    if text is None or len(text.split()) == len(own.split()):
        return Role.CURRENT
    numbers = numbers_in(line_text(line), None, hints)
    roles = [number.role for number in numbers if number.amount == amount and number.codes]
    return roles[0] if roles and roles[0] is not Role.NOT_MONEY else Role.CURRENT


def role_from_row(element: Element) -> Role:
    """The role of the prices in a cell of a table or list from the label of the row."""
    cell = element
    while cell.tag in INLINE and (parent := cell.getparent()) is not None:
        cell = parent
    label = cell.getprevious() if cell.tag in ("td", "dd") else None
    if label is None:
        return Role.CURRENT
    text = short_text(label, _MAX_LABEL_LENGTH)
    return role_from_context(collapse_spaces(text).lower(), "") if text else Role.CURRENT


def _text_before(node: Element, parent: Element) -> str:
    """The text of the parent before a child, without elements that have a number of their own."""
    text = parent.text or ""
    for sibling in parent:
        if sibling is node:
            return text
        content = raw_text(sibling)
        if _DIGIT.search(content):
            text = sibling.tail or ""
        else:
            text += f" {content} {sibling.tail or ''}"
    return text


def _text_after(node: Element) -> str:
    """The text after an element, up to an element that has a number of its own."""
    text = node.tail or ""
    for sibling in node.itersiblings():
        content = raw_text(sibling)
        if _DIGIT.search(content):
            break
        text += f" {content} {sibling.tail or ''}"
    return text
