"""One walk over the displayed page: prices, short texts and buttons, with their place in the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pricewatch.parsing.pages.buttons import BUTTON_TAGS, PageButton, read_button
from pricewatch.parsing.pages.class_names import NO_CUES, ClassCues, element_cues
from pricewatch.parsing.pages.displayed_price import DisplayedPrice, read_prices, texts_with_roles
from pricewatch.parsing.pages.element_tree import Element, short_text
from pricewatch.parsing.pages.other_products import HEADINGS, introduces_other_products
from pricewatch.parsing.pages.surrounding_text import role_from_row, role_from_surroundings
from pricewatch.parsing.pages.text_pieces import CENT_TAGS, is_displayed, tag_role
from pricewatch.parsing.prices.currency_marks import has_currency_mark
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces, word_set
from pricewatch.parsing.url import is_other_page

_DIGIT = re.compile(r"\d")
_BARE_NUMBER = re.compile(r"\s*+\d[\d\s.,'’]*+[-–—]?\s*+")
_SKIPPED_TAGS = word_set(
    "nav header footer select textarea script style noscript template svg iframe head "
    "img picture source br hr wbr video audio canvas meta link object map"
)
_CHECKED_TAGS = word_set("a button input label del s strike option form")
_TEXT_ROLES = (None, Role.VARIANT, Role.REGULAR)
_MAX_BLOCK_LENGTH = 260
_MAX_WEAK_LENGTH = 90
_MAX_PHRASE_LENGTH = 220
_MAX_TEXT_LENGTH = 600
# Work per page is bounded; a product page has far fewer.
_MAX_BLOCKS = 250
_MAX_PRICES = 1_000
_MAX_BUTTONS = 500
_MAX_NOTICES = 20_000
_MAX_ELEMENTS = 60_000
# Number of links after the title whose label may be that of a button.
_MAX_LINKS = 60
# Elements to read after the block that has the title, a price and a button.
_FOLLOWING_ELEMENTS = 60


@dataclass(slots=True)
class Notice:
    """A short displayed text; `is_variant` if it is about one variant only."""

    text: str
    order: int
    is_variant: bool
    element: Element = field(repr=False)


@dataclass(slots=True)
class PageScan:
    """What a page displays. `order` is the number of the element in the page."""

    prices: list[DisplayedPrice] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    buttons: list[PageButton] = field(default_factory=list)
    # The first and last order of the title and of each of its ancestors, innermost first.
    spans: list[tuple[int, int]] = field(default_factory=list)
    # False if the scan ended before the end of the page.
    is_complete: bool = True
    # Whether it ended soon after the block that has the title, a price and a button.
    has_stopped_early: bool = False
    # Where other products begin: headings such as "related products".
    other_products: list[int] = field(default_factory=list)

    def level_of(self, order: int) -> int:
        """The number of levels from the title up to the element that also contains this one."""
        return next(
            (level for level, (first, last) in enumerate(self.spans) if first <= order <= last),
            len(self.spans),
        )


@dataclass(frozen=True, slots=True)
class _Context:
    role: Role | None = None
    is_labelled: bool = False
    is_sale: bool = False
    is_struck: bool = False


_NO_CONTEXT = _Context()


def scan_page(
    body: Element, title: Element | None, page_url: str, hints: Sequence[str], *, stops_early: bool = True
) -> PageScan:
    """Scan the displayed page; levels are counted from the title element.

    With `stops_early`, the scan ends soon after the block that has the title, a price and a button.
    """
    return _Scan(page_url, hints).of(body, title, stops_early=stops_early)


class _Scan:
    """The walk over one page; only displayed elements are counted."""

    def __init__(self, page_url: str, hints: Sequence[str]) -> None:
        self.scan = PageScan()
        self._page_url = page_url
        self._hints = hints
        self._order = 0
        self._blocks = 0
        self._finished: set[Element] = set()
        # The texts of parents of bare numbers.
        self._texts: dict[Element, str] = {}
        self._context = _NO_CONTEXT
        self._is_after_title = False
        self._links = 0

    def of(self, body: Element, title: Element | None, *, stops_early: bool) -> PageScan:
        around_title = [] if title is None else [title, *title.iterancestors()]
        levels = {element: level for level, element in enumerate(around_title)}
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        # A context restores that of the parent; a number marks the end of an element around the title.
        pending: list[Any] = [body]
        limit = _MAX_ELEMENTS
        while pending and self._order < limit:
            element = pending.pop()
            kind = type(element)
            if kind is _Context:
                self._context = element
                continue
            if kind is int:
                ends[element] = self._order
                if stops_early and limit == _MAX_ELEMENTS and self._is_complete(starts[element]):
                    limit = self._order + _FOLLOWING_ELEMENTS
                continue
            self._order += 1
            outer = self._context
            level = levels.get(element)
            if level is not None:
                starts[level] = self._order
                pending.append(level)
                self._is_after_title = self._is_after_title or level == 0
                is_read = self._read_texts(element)
            else:
                is_read = self._is_read(element)
            inner = self._context
            if not is_read:
                if inner is not outer:
                    pending.append(outer)
                pending.extend(element[::-1])
            tail = element.tail
            if tail and not tail.isspace():
                self._context = outer
                self._read_tail(element, tail)
            self._context = outer if is_read else inner
        self.scan.is_complete = not pending
        self.scan.has_stopped_early = bool(pending) and limit < _MAX_ELEMENTS
        last = self._order if self.scan.is_complete else _MAX_ELEMENTS
        self.scan.spans = [(starts[level], ends.get(level, last)) for level in sorted(starts)]
        return self.scan

    def _is_complete(self, first: int) -> bool:
        """Whether a price and a button were found from this element on: what follows is farther away."""
        return any(
            one.order >= first and one.is_enabled and not one.is_contact for one in self.scan.buttons
        ) and any(one.order >= first and one.codes and one.role is Role.CURRENT for one in self.scan.prices)

    def _is_read(self, element: Element) -> bool:
        """Read an element; whether its content is read already or not displayed."""
        tag = element.tag
        if tag in _SKIPPED_TAGS:
            return True
        if tag in HEADINGS and self._is_after_title and introduces_other_products(element):
            self.scan.other_products.append(self._order)
            return True
        own = element_cues(element)
        style = element.get("style")
        if own is not NO_CUES or style or tag in _CHECKED_TAGS:
            if own.role is Role.RELATED or not is_displayed(element, own, style):
                return True
            if tag in BUTTON_TAGS or own.is_button:
                self._read_button(element, own)
                if tag == "a" and is_other_page(self._page_url, element.get("href")):
                    return True
            self._enter(element, own, style)
            if (own.is_price or element.get("itemprop") == "price") and self._read_block(
                element, _MAX_BLOCK_LENGTH
            ):
                return True
        text = element.text
        return text is not None and not text.isspace() and self._read_text(element, text)

    def _read_texts(self, element: Element) -> bool:
        text = element.text
        return bool(text) and not text.isspace() and self._read_text(element, text)

    def _enter(self, element: Element, own: ClassCues, style: str | None) -> None:
        """Set the context of the content of an element."""
        outer, by_tag = self._context, tag_role(element, style)
        role = by_tag or own.role or outer.role
        is_labelled = outer.is_labelled or own.is_price
        is_struck = outer.is_struck or by_tag is Role.LIST or own.is_struck
        if (
            role is not outer.role
            or is_labelled != outer.is_labelled
            or is_struck != outer.is_struck
            or (own.is_sale and not outer.is_sale)
        ):
            self._context = _Context(role, is_labelled, outer.is_sale or own.is_sale, is_struck)

    def _read_block(self, element: Element, max_length: int) -> bool:
        """Read an element as one block of prices; False if it has none or is too long."""
        if element in self._finished:
            return True
        text = short_text(element, max_length)
        if text is None:
            return False
        context = self._context
        if not _DIGIT.search(text):
            return False
        if self._has_enough_prices():
            return True
        self._finished.add(element)
        self._blocks += 1
        prices = read_prices(
            element,
            self._page_url,
            self._hints,
            role=context.role,
            is_labelled=context.is_labelled,
            is_sale=context.is_sale,
            is_struck=context.is_struck,
        )
        if len({price.amount for price in prices}) == 1 and prices[0].role is Role.CURRENT:
            around = role_from_surroundings(element, prices[0].amount, self._hints)
            for price in prices:
                price.role = around
        row_role = role_from_row(element) if prices else Role.CURRENT
        for price in prices:
            price.order = self._order
            if price.role is Role.CURRENT:
                price.role = row_role
        self.scan.prices.extend(prices)
        if prices:
            for part, role in texts_with_roles(element, self._page_url, context.role):
                self._add_notice(element, part, role)
        return bool(prices)

    def _has_enough_prices(self) -> bool:
        return self._blocks >= _MAX_BLOCKS or len(self.scan.prices) >= _MAX_PRICES

    def _read_text(self, element: Element, text: str) -> bool:
        """Read a text of an element; whether the whole element was read as a block."""
        length = len(text)
        if length > _MAX_TEXT_LENGTH:
            return False
        is_block = False
        if _DIGIT.search(text):
            if has_currency_mark(text):
                whole = element.getparent() if element.tag in CENT_TAGS else None
                is_block = self._read_block(element if whole is None else whole, _MAX_WEAK_LENGTH)
            elif _BARE_NUMBER.fullmatch(text):
                self._read_bare_number(element)
        if length <= _MAX_PHRASE_LENGTH and not is_block:
            self._add_notice(element, text, self._context.role)
        return is_block

    def _read_tail(self, element: Element, tail: str) -> None:
        parent = element.getparent()
        if parent is not None and parent not in self._finished:
            self._read_text(parent, tail)

    def _read_bare_number(self, element: Element) -> None:
        """Read a number that is alone in its element; the currency may be in a sibling element."""
        parent = element.getparent()
        if self._has_enough_prices():
            return
        if self._context.is_labelled:
            self._read_block(element, _MAX_WEAK_LENGTH)
        elif parent is not None and parent not in self._finished:
            if parent not in self._texts:
                self._texts[parent] = collapse_spaces(short_text(parent, _MAX_BLOCK_LENGTH) or "")
            around = self._texts[parent]
            if len(around) <= _MAX_WEAK_LENGTH // 2 and has_currency_mark(around):
                self._read_block(parent, _MAX_WEAK_LENGTH)

    def _read_button(self, element: Element, own: ClassCues) -> None:
        if element.tag == "a":
            self._links += self._is_after_title
        if len(self.scan.buttons) >= _MAX_BUTTONS:
            return
        button = read_button(element, own, may_be_link=self._is_after_title and self._links < _MAX_LINKS)
        if button is not None:
            button.order, button.role = self._order, self._context.role
            self.scan.buttons.append(button)

    def _add_notice(self, element: Element, text: str, role: Role | None) -> None:
        if len(text) < 3 or role not in _TEXT_ROLES or len(self.scan.notices) >= _MAX_NOTICES:
            return
        self.scan.notices.append(Notice(text, self._order, role is Role.VARIANT, element))
