"""The part of a page around the product's title, as a reader sees it: prices, notices, the buy button."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pricewatch.parsing.pages.availability import is_buy_button, stock_phrases
from pricewatch.parsing.pages.class_names import NO_CUES, ClassCues, element_cues
from pricewatch.parsing.pages.displayed_price import ShownPrice, is_displayed, read_prices, tag_role, told_in
from pricewatch.parsing.pages.element_tree import Element, raw_text, shown_text
from pricewatch.parsing.pages.other_products import HEADINGS, announces_others, is_product_card
from pricewatch.parsing.prices.price_roles import Role, role_of_words, says_gross
from pricewatch.parsing.text import squash, word_set, words
from pricewatch.parsing.url import is_other_page
from pricewatch.vocabulary import Availability

_SIGN = re.compile(r"[$€£¥￥₽₹₨₩₺₴₪₫฿₱₦₡₲₸₼₾₮₭៛₵৳֏円원元]")
_WORD = re.compile(
    r"\b(?:[A-Z]{3}|[Zz]ł|K[čc]|F[Tt]|[Ll]ei|[Kk]r|R[sSpM]|[Рр]уб|[Гг]рн|[Тт][гГ]|[Лл]в|TL|[Ee]uros?|р)\b"
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_DIGIT = re.compile(r"\d")
_BARE_NUMBER = re.compile(r"\s*\d[\d\s.,'’]*(?:[.,]?[-–—])?\s*")
_OTHER_ACTION = re.compile(
    r"notify|wish|remove|view|close|out of|sold|unavailable|compare|coupon|apply|update|continue|[-+×]$"
)
_BUTTONS = frozenset({"button", "input", "a"})
_SKIPPED = frozenset({"nav", "footer", "select", "textarea"})
_SPECIAL = word_set("a button input del s strike option script style noscript template svg iframe")
_DEEPEST = 120
_TELLING_OF_STOCK = (None, Role.VARIANT, Role.REGULAR)
_NOT_BOUGHT = frozenset({Role.RELATED, Role.EXTRA, Role.OTHER_CONDITION, Role.INSTALMENT})
_FOLLOWING = 450
# Once a price tag is found, the product's own stock and button are not far.
_AFTER_PRICE = 80
_AFTER_BOTH = 40
_PRECEDING = 80
_PRECEDING_LEVELS = 4
_LONGEST_BLOCK = 260
_LONGEST_WEAK = 90
_LONGEST_BUTTON = 48
_LONGEST_PHRASE = 220
_LONGEST_TEXT = 600
_LONGEST_AROUND = 300
_WRAPPERS = 3
_CARD_LEVELS = 5
# A phrase of its own, not a sentence about delivery to an island.
_LONGEST_STOCK = 40


@dataclass(slots=True)
class Notice:
    """A short text in the zone; `is_variant` where it is about one size or colour only."""

    text: str
    is_variant: bool
    element: Element | None = field(default=None, repr=False)


@dataclass(slots=True)
class Zone:
    """What stands around the title."""

    prices: list[ShownPrice] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    # The notices that name the product's own stock, without those of its variants and of other products.
    stock: list[tuple[Availability, str]] = field(default_factory=list)
    buy_button: str = ""


@dataclass(frozen=True, slots=True)
class _Context:
    role: Role | None = None
    is_strong: bool = False
    is_sale: bool = False


class _Scan:
    """One walk around a title; holds what it found and how far it may still go."""

    def __init__(self, page_url: str, hints: Sequence[str]) -> None:
        self.zone = Zone()
        self._page_url = page_url
        self._hints = hints
        self._left = 0
        self._order = 0
        self._step = 1
        self._has_price = False
        self._done: set[Element] = set()

    def around(self, title: Element) -> Zone:
        self._left = _FOLLOWING
        self._walk_siblings(title, preceding=False)
        if not self._has_price:
            self._left, self._order, self._step = _PRECEDING, 0, -1
            self._walk_siblings(title, preceding=True)
        self._set_cards_apart(title)
        self.zone.prices.sort(key=lambda price: (price.order < 0, abs(price.order)))
        return self.zone

    def _walk_siblings(self, title: Element, *, preceding: bool) -> None:
        node, level = title, 0
        while node is not None and node.tag != "body" and self._left > 0:
            level += 1
            if preceding and level > _PRECEDING_LEVELS:
                return
            for sibling in node.itersiblings(preceding=preceding):
                if self._left <= 0:
                    return
                if self._visit(sibling, _Context()):
                    break
                self._text_of_tail(sibling)
            node = node.getparent()

    def _set_cards_apart(self, title: Element) -> None:
        """Prices and stock in a card that links to another product are that product's."""
        around_title = {title, *title.iterancestors()}
        name = words(shown_text(title, _LONGEST_BLOCK))
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
        for index, state in stock_phrases([notice.text for notice in notices], _LONGEST_STOCK):
            if not is_in_card(notices[index].element):
                self.zone.stock.append((state, squash(notices[index].text)))

    def _visit(self, element: Element, context: _Context, depth: int = 0) -> bool:
        """Reads an element; True where it ends in a heading, and other products follow."""
        self._left -= 1
        self._order += self._step
        tag = element.tag
        if self._left <= 0 or depth > _DEEPEST or tag in _SKIPPED:
            return False
        if tag in HEADINGS and announces_others(element):
            return True
        own = element_cues(element)
        style = element.get("style")
        if own is not NO_CUES or style or tag in _SPECIAL:
            if own.role is Role.RELATED or not is_displayed(element, own, style):
                return False
            if tag in _BUTTONS or own.is_button:
                if not self.zone.buy_button:
                    self._read_button(element, own, context)
                if tag == "a" and is_other_page(self._page_url, element.get("href")):
                    return False
            context = _inner(element, own, style, context)
            if (own.is_price or element.get("itemprop") == "price") and self._read_block(
                element, context, _LONGEST_BLOCK
            ):
                return False
        text = element.text
        if text and not text.isspace():
            self._read_text(element, text, context)
        for child in element:
            if self._visit(child, context, depth + 1):
                return child.getnext() is None
            text = child.tail
            if text and not text.isspace():
                self._read_text(element, text, context)
        return False

    def _read_block(self, element: Element, context: _Context, longest: int) -> bool:
        """Reads an element as one block of prices; False where it is too long to be one."""
        if element in self._done:
            return True
        text = raw_text(element)
        if len(text) > longest and len(squash(text)) > longest:
            return False
        self._done.add(element)
        if not _DIGIT.search(text):
            self._phrase(element, text, context)
            return True
        prices = read_prices(
            element,
            self._page_url,
            self._hints,
            role=context.role,
            is_strong=context.is_strong,
            is_sale=context.is_sale,
        )
        if len(prices) == 1 and prices[0].role is Role.CURRENT:
            prices[0].role = _role_from_outside(element)
        for price in prices:
            price.order = self._order
        self.zone.prices.extend(prices)
        if context.is_strong and any(price.role is Role.CURRENT for price in prices):
            self._left = min(self._left, _AFTER_BOTH if self.zone.buy_button else _AFTER_PRICE)
            self._has_price = True
        if prices:
            for words_of, role in told_in(element, self._page_url, context.role):
                self._phrase(element, words_of, replace(context, role=role))
        return bool(prices)

    def _read_text(self, element: Element, text: str, context: _Context) -> None:
        length = len(text)
        if length > _LONGEST_TEXT:
            return
        if _DIGIT.search(text):
            if has_currency_mark(text):
                self._read_block(element, context, _LONGEST_WEAK)
            elif _BARE_NUMBER.fullmatch(text):
                self._read_bare(element, context)
        if length <= _LONGEST_PHRASE:
            self._phrase(element, text, context)

    def _read_bare(self, element: Element, context: _Context) -> None:
        """A number alone in its element: the currency may stand beside it, in an element of its own."""
        parent = element.getparent()
        if context.is_strong:
            self._read_block(element, context, _LONGEST_WEAK)
        elif parent is not None:
            around = squash(raw_text(parent))
            if len(around) <= _LONGEST_WEAK // 2 and has_currency_mark(around):
                self._read_block(parent, context, _LONGEST_WEAK)

    def _text_of_tail(self, sibling: Element) -> None:
        tail = sibling.tail
        if tail and not tail.isspace():
            parent = sibling.getparent()
            if parent is not None and len(parent) <= 12:
                self._phrase(parent, tail, _Context())

    def _read_button(self, element: Element, own: ClassCues, context: _Context) -> None:
        if context.role in _NOT_BOUGHT or element.get("disabled") is not None:
            return
        if element.get("aria-disabled") == "true" or "disabled" in (element.get("class") or "").split():
            return
        kind = element.get("type")
        if element.tag == "input" and kind not in ("submit", "button", "image"):
            return
        label = element.get("value") if element.tag == "input" else raw_text(element)
        text = squash(label or element.get("aria-label") or element.get("title") or element.get("alt") or "")
        # A real button that its class calls the cart's needs no language.
        is_cart = (
            element.tag in ("button", "input") and own.is_cart and not _OTHER_ACTION.search(text.lower())
        )
        if 2 <= len(text) <= _LONGEST_BUTTON and (is_cart or is_buy_button(text)):
            self.zone.buy_button = text
            if self._has_price:
                self._left = min(self._left, _AFTER_BOTH)

    def _phrase(self, element: Element, text: str, context: _Context) -> None:
        if len(text) < 3 or context.role not in _TELLING_OF_STOCK:
            return
        self.zone.notices.append(Notice(text, context.role is Role.VARIANT, element))


def has_currency_mark(text: str) -> bool:
    return _SIGN.search(text) is not None or _WORD.search(text) is not None


def _inner(element: Element, own: ClassCues, style: str | None, context: _Context) -> _Context:
    """The context of what an element holds."""
    role = tag_role(element, style) or own.role or context.role
    is_strong = context.is_strong or own.is_price
    if role is context.role and is_strong == context.is_strong and not own.is_sale:
        return context
    return _Context(role, is_strong, context.is_sale or own.is_sale)


def _role_from_outside(element: Element) -> Role:
    """What the words right around a price's element make of it: "From <b>€10</b>", "Warranty <b>€5</b>"."""
    own = raw_text(element)
    parent = element.getparent()
    for _ in range(_WRAPPERS):
        if parent is None or parent.tag == "body":
            return Role.CURRENT
        around = raw_text(parent)
        if len(around) > _LONGEST_AROUND:
            return Role.CURRENT
        before, _, after = around.partition(own)
        if before.strip() or after.strip():
            label = _DIGITS.split(squash(before))[-1]
            tail = _DIGITS.split(squash(after))
            role = role_of_words(label.lower(), tail[0].lower(), is_last=len(tail) == 1)
            # The words before it may be those of another price: "€105 ex VAT", "€126 inc VAT".
            return Role.CURRENT if role is Role.NET and says_gross(own.lower()) else role
        parent = parent.getparent()
    return Role.CURRENT


def read_zone(title: Element, page_url: str, hints: Sequence[str]) -> Zone:
    """Everything of interest around the title element, nearest and following first."""
    return _Scan(page_url, hints).around(title)
