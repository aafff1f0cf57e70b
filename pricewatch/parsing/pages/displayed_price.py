"""Prices in a small part of a page, assembled from the elements that a shop splits them into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from pricewatch.parsing.pages.class_names import element_cues
from pricewatch.parsing.pages.element_tree import Element, describe_element, visible_text
from pricewatch.parsing.pages.text_pieces import joined_text, piece_at, text_pieces
from pricewatch.parsing.prices.currency import resolve_currency
from pricewatch.parsing.prices.currency_marks import BLOCK_BREAK, PIECE_BREAK
from pricewatch.parsing.prices.numbers import Number, numbers_in
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces

_MAX_EXTRA_LENGTH = 6


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
    is_of_block = role not in (None, Role.RELATED) and role is element_cues(block).role
    if (
        is_of_block
        and len({price.amount for price in found}) > 1
        and any(one.role is not role for one in found)
    ):
        return _read_prices(
            block, page_url, hints, None, is_labelled=is_labelled, is_sale=is_sale, ignores_class=True
        )
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
    ignores_class: bool = False,
) -> list[DisplayedPrice]:
    text, pieces = joined_text(
        list(text_pieces(block, page_url, role, is_sale, is_struck=is_struck, ignores_class=ignores_class))
    )
    found: list[DisplayedPrice] = []
    named: list[DisplayedPrice] = []
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
        piece = piece_at(pieces, number.start)
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
        elif final_role is own and own in (Role.LIST, Role.PER_UNIT) and number.role is Role.CURRENT:
            named.append(found[-1])
    _strike_repeated(found, struck)
    if len(named) == 1 and _is_the_only_price(found, named[0], block):
        named[0].role = Role.REGULAR
    return found


def tag_text(tag: Element) -> str:
    """The text of a price tag with breaks between its elements, and a point before separate cents.

    Crossed-out text counts only if there is no other text.
    """
    pieces = list(text_pieces(tag, "", None, is_sale=False))
    return joined_text([one for one in pieces if not one.is_struck])[0] or joined_text(pieces)[0]


def line_text(line: Element) -> str:
    """The text of an element with breaks between its parts."""
    return joined_text(list(text_pieces(line, "", None, is_sale=False)))[0]


def texts_with_roles(block: Element, page_url: str, role: Role | None) -> Iterator[tuple[str, Role | None]]:
    """The texts of a block, each with the role from its elements."""
    for piece in text_pieces(block, page_url, role, is_sale=False):
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
