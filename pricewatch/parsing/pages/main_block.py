"""The main product block: the smallest part of a page that has the title, a price and a buy button."""

from __future__ import annotations

from collections.abc import Sequence

from pricewatch.parsing.pages.buttons import PageButton
from pricewatch.parsing.pages.element_tree import Element, visible_text
from pricewatch.parsing.pages.other_products import is_product_card
from pricewatch.parsing.pages.page_scan import Notice, PageScan, scan_page
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import name_words

_CURRENT = (Role.CURRENT, Role.REGULAR)
_OTHER_BUTTON_ROLES = frozenset({Role.RELATED, Role.EXTRA, Role.OTHER_CONDITION, Role.INSTALMENT})
_CARD_LEVELS = 5
_MAX_NAME_LENGTH = 260
_NEVER = 10**9
_NEAR_TITLE = 80


def find_main_block(body: Element, title: Element | None, page_url: str, hints: Sequence[str]) -> MainBlock:
    """Scan the page as far as needed, and find its main product block."""
    main = MainBlock(scan_page(body, title, page_url, hints), body, title, page_url)
    if not main.scan.has_stopped_early or (main.has_price and main.button is not None):
        return main
    # The price or the button at which the scan ended belongs to another product.
    return MainBlock(scan_page(body, title, page_url, hints, stops_early=False), body, title, page_url)


class MainBlock:
    """The part of the page that is about its product; the rest is navigation and other products."""

    def __init__(self, scan: PageScan, body: Element, title: Element | None, page_url: str) -> None:
        self.scan = scan
        self._page_url = page_url
        self._cards: dict[Element, bool] = {}
        self._around_title = set() if title is None else {title, *title.iterancestors()}
        self._name = frozenset() if title is None else name_words(visible_text(title, _MAX_NAME_LENGTH))
        self.title_order = scan.spans[0][1] if scan.spans else 0
        self._others_from = min(
            (one for one in scan.other_products if one > self.title_order), default=_NEVER
        )
        for price in scan.prices:
            if price.role in _CURRENT and price.element is not None and self.is_in_card(price.element):
                price.role, price.has_certain_role = Role.RELATED, True
        level, self.button = self._find()
        around = [] if title is None else [title, *title.iterancestors()]
        self.element = around[level] if level < len(around) else body
        first, last = scan.spans[min(level, len(scan.spans) - 1)] if scan.spans else (0, _NEVER)
        self._first, self._last = (first, last) if level < len(scan.spans) else (0, _NEVER)
        self.has_price = any(one.role in _CURRENT and self.contains(one.order) for one in scan.prices)

    def contains(self, order: int) -> bool:
        """Whether the element with this order is in the block and before the products that follow it."""
        return self._first <= order <= self._last and order < self._others_from

    def notices(self) -> list[Notice]:
        """The short texts of the block and those that follow the title closely, in the order of the page."""
        last = min(self.title_order + _NEAR_TITLE, self._others_from)
        return [
            one
            for one in self.scan.notices
            if self.contains(one.order) or self.title_order <= one.order <= last
        ]

    def is_in_card(self, element: Element) -> bool:
        """Whether an element is in the card of another product."""
        node: Element | None = element
        for _ in range(_CARD_LEVELS):
            if node is None or node in self._around_title:
                return False
            if node not in self._cards:
                self._cards[node] = is_product_card(node, self._page_url, self._name)
            if self._cards[node]:
                return True
            node = node.getparent()
        return False

    def _find(self) -> tuple[int, PageButton | None]:
        """The level of the block, counted from the title, and its buy button."""
        prices = [
            self.scan.level_of(one.order)
            for one in self.scan.prices
            if one.role in _CURRENT and one.order < self._others_from and (one.codes or one.is_labelled)
        ]
        buttons = sorted(
            (self.scan.level_of(one.order), not one.is_enabled, index)
            for index, one in enumerate(self.scan.buttons)
            if one.role not in _OTHER_BUTTON_ROLES
            and not one.is_contact
            and one.order < self._others_from
            and not self.is_in_card(one.element)
        )
        nearest = min(prices, default=None)
        if not buttons:
            return nearest or 0, None
        level, _, index = buttons[0]
        return level if nearest is None else max(nearest, level), self.scan.buttons[index]
