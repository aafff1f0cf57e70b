"""The visible part of a page around the product's title: prices, notices and the buy button."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pricewatch.parsing.pages.availability import is_buy_button, stock_phrases
from pricewatch.parsing.pages.class_names import NO_CUES, ClassCues, element_cues
from pricewatch.parsing.pages.displayed_price import (
    DisplayedPrice,
    is_displayed,
    read_prices,
    tag_role,
    texts_with_roles,
)
from pricewatch.parsing.pages.element_tree import Element, raw_text, visible_text
from pricewatch.parsing.pages.other_products import HEADINGS, introduces_other_products, is_product_card
from pricewatch.parsing.prices.currency_marks import has_currency_mark
from pricewatch.parsing.prices.price_roles import Role, includes_tax, role_from_context
from pricewatch.parsing.text import collapse_spaces, name_words, word_set
from pricewatch.parsing.url import is_other_page
from pricewatch.vocabulary import Availability

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DIGIT = re.compile(r"\d")
_BARE_NUMBER = re.compile(r"\s*\d[\d\s.,'’]*(?:[.,]?[-–—])?\s*")
_OTHER_ACTION = re.compile(
    r"notify|wish|remove|view|close|out of|sold|unavailable|compare|coupon|apply|update|continue|[-+×]$"
)
_BUTTONS = frozenset({"button", "input", "a"})
_SKIPPED_TAGS = frozenset({"nav", "footer", "select", "textarea"})
_CHECKED_TAGS = word_set("a button input del s strike option script style noscript template svg iframe")
_MAX_DEPTH = 120
_STOCK_ROLES = (None, Role.VARIANT, Role.REGULAR)
_OTHER_BUTTON_ROLES = frozenset({Role.RELATED, Role.EXTRA, Role.OTHER_CONDITION, Role.INSTALMENT})
_FOLLOWING_BUDGET = 450
# Number of elements to read after the price, or after the price and the button.
_BUDGET_AFTER_PRICE = 80
_BUDGET_AFTER_BOTH = 40
_PRECEDING_BUDGET = 80
_PRECEDING_LEVELS = 4
_MAX_BLOCK_LENGTH = 260
_MAX_WEAK_LENGTH = 90
_MAX_BUTTON_LENGTH = 48
_MAX_PHRASE_LENGTH = 220
_MAX_TEXT_LENGTH = 600
_MAX_AROUND_LENGTH = 300
_MAX_WRAPPERS = 3
_CARD_LEVELS = 5
# A longer text is a sentence, for example about delivery to an island.
_MAX_STOCK_LENGTH = 40


@dataclass(slots=True)
class Notice:
    """A short text in the zone; `is_variant` if it is about one variant only."""

    text: str
    is_variant: bool
    element: Element | None = field(default=None, repr=False)


@dataclass(slots=True)
class Zone:
    """The content around the title."""

    prices: list[DisplayedPrice] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    # Availability of the product from notices, without those of variants and of other products.
    stock: list[tuple[Availability, str]] = field(default_factory=list)
    buy_button: str = ""


@dataclass(frozen=True, slots=True)
class _Context:
    role: Role | None = None
    is_labelled: bool = False
    is_sale: bool = False


class _Scan:
    """A walk around a title, with the zone that it fills and the number of elements it may still read."""

    def __init__(self, page_url: str, hints: Sequence[str]) -> None:
        self.zone = Zone()
        self._page_url = page_url
        self._hints = hints
        self._budget = 0
        self._order = 0
        self._step = 1
        self._has_price = False
        self._finished_blocks: set[Element] = set()

    def around(self, title: Element) -> Zone:
        self._budget = _FOLLOWING_BUDGET
        self._walk_siblings(title, preceding=False)
        if not self._has_price:
            self._budget, self._order, self._step = _PRECEDING_BUDGET, 0, -1
            self._walk_siblings(title, preceding=True)
        self._separate_other_products(title)
        self.zone.prices.sort(key=lambda price: (price.order < 0, abs(price.order)))
        return self.zone

    def _walk_siblings(self, title: Element, *, preceding: bool) -> None:
        node, level = title, 0
        while node is not None and node.tag != "body" and self._budget > 0:
            level += 1
            if preceding and level > _PRECEDING_LEVELS:
                return
            for sibling in node.itersiblings(preceding=preceding):
                if self._budget <= 0:
                    return
                if self._read_element(sibling, _Context()):
                    break
                self._read_tail(sibling)
            node = node.getparent()

    def _separate_other_products(self, title: Element) -> None:
        """Assign the prices and the availability in cards of other products to those products."""
        around_title = {title, *title.iterancestors()}
        name = name_words(visible_text(title, _MAX_BLOCK_LENGTH))
        known: dict[Element, bool] = {}

        def is_in_card(element: Element | None) -> bool:
            level = 0
            while element is not None and element not in around_title and level < _CARD_LEVELS:
                if element not in known:
                    known[element] = is_product_card(element, self._page_url, name)
                if known[element]:
                    return True
                element, level = element.getparent(), level + 1
            return False

        for price in self.zone.prices:
            if price.role in (Role.CURRENT, Role.REGULAR) and is_in_card(price.element):
                price.role = Role.RELATED
        notices = [notice for notice in self.zone.notices if not notice.is_variant]
        for index, state in stock_phrases([notice.text for notice in notices], _MAX_STOCK_LENGTH):
            if not is_in_card(notices[index].element):
                self.zone.stock.append((state, collapse_spaces(notices[index].text)))

    def _read_element(self, element: Element, context: _Context, depth: int = 0) -> bool:
        """Read an element; True if it ends in a heading that introduces other products."""
        self._budget -= 1
        self._order += self._step
        tag = element.tag
        if self._budget <= 0 or depth > _MAX_DEPTH or tag in _SKIPPED_TAGS:
            return False
        if tag in HEADINGS and introduces_other_products(element):
            return True
        own = element_cues(element)
        style = element.get("style")
        if own is not NO_CUES or style or tag in _CHECKED_TAGS:
            if own.role is Role.RELATED or not is_displayed(element, own, style):
                return False
            if tag in _BUTTONS or own.is_button:
                if not self.zone.buy_button:
                    self._read_button(element, own, context)
                if tag == "a" and is_other_page(self._page_url, element.get("href")):
                    return False
            context = _child_context(element, own, style, context)
            if (own.is_price or element.get("itemprop") == "price") and self._read_block(
                element, context, _MAX_BLOCK_LENGTH
            ):
                return False
        text = element.text
        if text and not text.isspace():
            self._read_text(element, text, context)
        for child in element:
            if self._read_element(child, context, depth + 1):
                return child.getnext() is None
            text = child.tail
            if text and not text.isspace():
                self._read_text(element, text, context)
        return False

    def _read_block(self, element: Element, context: _Context, max_length: int) -> bool:
        """Read an element as one block of prices; False if it is too long."""
        if element in self._finished_blocks:
            return True
        text = raw_text(element)
        if len(text) > max_length and len(collapse_spaces(text)) > max_length:
            return False
        self._finished_blocks.add(element)
        if not _DIGIT.search(text):
            self._add_notice(element, text, context)
            return True
        prices = read_prices(
            element,
            self._page_url,
            self._hints,
            role=context.role,
            is_labelled=context.is_labelled,
            is_sale=context.is_sale,
        )
        if len(prices) == 1 and prices[0].role is Role.CURRENT:
            prices[0].role = _role_from_surroundings(element)
        for price in prices:
            price.order = self._order
        self.zone.prices.extend(prices)
        if context.is_labelled and any(price.role is Role.CURRENT for price in prices):
            self._budget = min(
                self._budget, _BUDGET_AFTER_BOTH if self.zone.buy_button else _BUDGET_AFTER_PRICE
            )
            self._has_price = True
        if prices:
            for text_part, role in texts_with_roles(element, self._page_url, context.role):
                self._add_notice(element, text_part, replace(context, role=role))
        return bool(prices)

    def _read_text(self, element: Element, text: str, context: _Context) -> None:
        length = len(text)
        if length > _MAX_TEXT_LENGTH:
            return
        if _DIGIT.search(text):
            if has_currency_mark(text):
                self._read_block(element, context, _MAX_WEAK_LENGTH)
            elif _BARE_NUMBER.fullmatch(text):
                self._read_bare_number(element, context)
        if length <= _MAX_PHRASE_LENGTH:
            self._add_notice(element, text, context)

    def _read_bare_number(self, element: Element, context: _Context) -> None:
        """Read a number that is alone in its element; the currency may be in a sibling element."""
        parent = element.getparent()
        if context.is_labelled:
            self._read_block(element, context, _MAX_WEAK_LENGTH)
        elif parent is not None:
            around = collapse_spaces(raw_text(parent))
            if len(around) <= _MAX_WEAK_LENGTH // 2 and has_currency_mark(around):
                self._read_block(parent, context, _MAX_WEAK_LENGTH)

    def _read_tail(self, sibling: Element) -> None:
        tail = sibling.tail
        if tail and not tail.isspace():
            parent = sibling.getparent()
            if parent is not None and len(parent) <= 12:
                self._add_notice(parent, tail, _Context())

    def _read_button(self, element: Element, own: ClassCues, context: _Context) -> None:
        if context.role in _OTHER_BUTTON_ROLES or element.get("disabled") is not None:
            return
        if element.get("aria-disabled") == "true" or "disabled" in (element.get("class") or "").split():
            return
        kind = element.get("type")
        if element.tag == "input" and kind not in ("submit", "button", "image"):
            return
        label = element.get("value") if element.tag == "input" else raw_text(element)
        fallbacks = (element.get(name) for name in ("aria-label", "title", "alt"))
        text = collapse_spaces(label or next(filter(None, fallbacks), ""))
        # A button with a cart class needs no known label.
        is_cart = (
            element.tag in ("button", "input") and own.is_cart and not _OTHER_ACTION.search(text.lower())
        )
        if 2 <= len(text) <= _MAX_BUTTON_LENGTH and (is_cart or is_buy_button(text)):
            self.zone.buy_button = text
            if self._has_price:
                self._budget = min(self._budget, _BUDGET_AFTER_BOTH)

    def _add_notice(self, element: Element, text: str, context: _Context) -> None:
        if len(text) < 3 or context.role not in _STOCK_ROLES:
            return
        self.zone.notices.append(Notice(text, context.role is Role.VARIANT, element))


def _child_context(element: Element, own: ClassCues, style: str | None, context: _Context) -> _Context:
    """The context of the children of an element."""
    role = tag_role(element, style) or own.role or context.role
    is_labelled = context.is_labelled or own.is_price
    if role is context.role and is_labelled == context.is_labelled and not own.is_sale:
        return context
    return _Context(role, is_labelled, context.is_sale or own.is_sale)


def _role_from_surroundings(element: Element) -> Role:
    """The role of a price from the text around its element: "From <b>€10</b>", "Warranty <b>€5</b>"."""
    own = raw_text(element)
    parent = element.getparent()
    for _ in range(_MAX_WRAPPERS):
        if parent is None or parent.tag == "body":
            return Role.CURRENT
        around = raw_text(parent)
        if len(around) > _MAX_AROUND_LENGTH:
            return Role.CURRENT
        before, _, after = around.partition(own)
        if before.strip() or after.strip():
            label = _NUMBER.split(collapse_spaces(before))[-1]
            tail = _NUMBER.split(collapse_spaces(after))
            role = role_from_context(label.lower(), tail[0].lower(), is_last=len(tail) == 1)
            # The text before it may belong to another price: "€105 ex VAT", "€126 inc VAT".
            return Role.CURRENT if role is Role.NET and includes_tax(own.lower()) else role
        parent = parent.getparent()
    return Role.CURRENT


def read_zone(title: Element, page_url: str, hints: Sequence[str]) -> Zone:
    """Read the zone around the title element; following and near prices come first."""
    return _Scan(page_url, hints).around(title)
