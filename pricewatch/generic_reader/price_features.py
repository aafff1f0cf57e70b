"""The features of each amount on a page that may be its price: where it stands, what it is, who else says so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

from pricewatch.generic_reader.candidates import PriceCandidate, displayed_candidates
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.element_tree import INLINE, Element, raw_text
from pricewatch.parsing.pages.main_block import MainBlock
from pricewatch.parsing.prices.price_roles import Role, includes_tax
from pricewatch.parsing.prices.price_words import PERCENTAGE, has_other_words, last_mark_end
from pricewatch.parsing.text import collapse_spaces

# Maximum distance, in displayed elements, of two prices in one price tag.
SAME_TAG = 14
_NEAR_BUTTON = 80
_NEAR_TITLE = 60
_FAR_FROM_TITLE = 400
_MAX_TAG_LENGTH = 24
# This many prices in elements of the same kind are a list.
_LIST_LENGTH = 3
# More text than this around a price makes it a part of a sentence.
_MAX_PROSE_LENGTH = 60
_MAX_LABEL_LENGTH = 300
# Share of the net price; no country has a higher sales tax.
_MAX_TAX_RATE = Decimal("0.3")
_BIG = re.compile(
    r"(?:^|[\s_-])(?:text-(?:[2-9]?xl|h[1-4])|fs-[1-4]|h[1-4]|display-\d|headline|large|xlarge|big|huge)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_BIG_TAGS = frozenset({"h1", "h2", "h3", "h4", "strong", "b"})
_PRICE_ATTRIBUTE = re.compile(r"price|preis|prix|precio|prezzo|preco|cena", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNREAD_ATTRIBUTES = frozenset({"class", "href", "style", "src"})
_CURRENT = (Role.CURRENT, Role.REGULAR)


@dataclass(slots=True)
class Amount:
    """One amount: the places that display it, the data that states it, and its features."""

    value: Decimal
    displayed: list[DisplayedPrice] = field(default_factory=list)
    witnesses: list[PriceCandidate] = field(default_factory=list)
    features: frozenset[str] = frozenset()
    score: float = 0.0

    @property
    def is_stated(self) -> bool:
        return any(one.role is Role.CURRENT for one in self.witnesses)

    @property
    def has_sale_label(self) -> bool:
        return any(one.is_sale and one.role in _CURRENT for one in self.displayed)

    @property
    def has_uncertain_role(self) -> bool:
        """Whether only class names say that it is another amount than the price."""
        return bool(self.displayed) and not any(one.has_certain_role for one in self.displayed)


class AmountsOfPage:
    """The amounts of a page, with what the page displays around them."""

    def __init__(
        self, main: MainBlock, structured: Iterable[PriceCandidate], usual_place: Iterable[Element] = ()
    ):
        self.main, self.scan = main, main.scan
        self.displayed = list(displayed_candidates(main.scan.prices))
        self.displays_zero = any(one.role is Role.ZERO for one in main.scan.prices)
        self._usual_place = set(usual_place)
        self._elements_at = _distinct(self.scan.prices, lambda one: one.element)
        self._amounts_at = _distinct(self.scan.prices, lambda one: one.amount)
        self._prose: dict[int, bool] = {}
        self._words: dict[int, bool] = {}
        self.amounts = _collect(self.scan.prices, structured)
        self._separate_net_prices()
        after = [one for one in self.current() if one.order >= main.title_order]
        self._first = next((one for one in after if one.is_labelled), after[0] if after else None)
        self._stated = [amount.value for amount in self.amounts if amount.is_stated]
        for amount in self.amounts:
            amount.features = frozenset(self._features(amount))

    def in_main(self, price: DisplayedPrice) -> bool:
        return self.main.contains(price.order)

    def current(self) -> list[DisplayedPrice]:
        """The displayed prices of the main block that may be the current one, in the order of the page."""
        return [
            one
            for one in self.scan.prices
            if one.role is Role.CURRENT and self.in_main(one) and (one.codes or one.is_labelled)
        ]

    def is_in_list(self, price: DisplayedPrice) -> bool:
        """Whether the price is one of several different prices in elements of the same kind."""
        return min(self._elements_at[price.where], self._amounts_at[price.where]) >= _LIST_LENGTH

    def is_prose(self, price: DisplayedPrice) -> bool:
        """Whether the price is a part of a sentence."""
        if id(price) not in self._prose:
            self._prose[id(price)] = (
                not price.is_labelled and len(_line_of(price)) - len(price.text) > _MAX_PROSE_LENGTH
            )
        return self._prose[id(price)]

    def has_words(self, price: DisplayedPrice) -> bool:
        """Whether other words than "price" stand on the line of a price: they may say that it is another."""
        if id(price) not in self._words:
            text = f"{price.words} {_words_around(price) if price.is_alone else ''}"
            self._words[id(price)] = has_other_words(text[-_MAX_LABEL_LENGTH:])
        return self._words[id(price)]

    def includes_tax(self, amount: Amount) -> bool:
        """Whether the page says next to the amount that it includes tax."""
        orders = [price.order for price in amount.displayed]
        return any(
            includes_tax(one.text.lower())
            for one in self.scan.notices
            if any(abs(one.order - order) <= SAME_TAG for order in orders)
        )

    def _separate_net_prices(self) -> None:
        """Give stated amounts the role NET if the page displays them with tax, and says so."""
        self._separate_other_currencies()
        undisplayed = [one for one in self.amounts if one.is_stated and not one.displayed]
        for price in {one.amount: one for one in self.current()}.values() if undisplayed else ():
            for amount in undisplayed:
                if _is_tax(amount.value, price.amount) and self.includes_tax(Amount(price.amount, [price])):
                    for witness in amount.witnesses:
                        witness.role = Role.NET

    def _separate_other_currencies(self) -> None:
        """Leave out data in another currency than the displayed price, if other data is in that one."""
        marks = [set(one.codes) for one in self.current() if one.codes]
        stated = {one.currency for amount in self.amounts for one in amount.witnesses if one.currency}
        if not marks or len(stated) < 2:
            return
        displayed = set.intersection(*marks)
        if not displayed & stated:
            return
        for amount in self.amounts:
            if not amount.displayed:
                for witness in amount.witnesses:
                    if witness.currency and witness.currency not in displayed:
                        witness.role = Role.EXTRA

    def best_place(self, amount: Amount) -> DisplayedPrice | None:
        """The place where the amount most likely is a price tag."""
        return min(amount.displayed, key=self._preference, default=None)

    def _preference(self, price: DisplayedPrice) -> tuple[int, bool, bool, bool, int]:
        return (
            _CURRENT.index(price.role) if price.role in _CURRENT else len(_CURRENT),
            not self.in_main(price),
            not price.is_labelled,
            not price.codes,
            abs(price.order - self.main.title_order),
        )

    def _features(self, amount: Amount) -> Iterator[str]:
        yield from self._witness_features(amount)
        place = self.best_place(amount)
        if place is None:
            yield "not displayed"
        else:
            yield from self._place_features(amount, place)

    def _witness_features(self, amount: Amount) -> Iterator[str]:
        sources = {one.source for one in amount.witnesses if one.role is Role.CURRENT}
        yield from (f"{source} says so" for source in sources)
        if len(sources) > 1:
            yield "two kinds of data say so"
        if any(one.role is not Role.CURRENT for one in amount.witnesses):
            yield "data says it is another amount"
        if self._stated and amount.value not in self._stated:
            yield "data says another price"

    def _place_features(self, amount: Amount, place: DisplayedPrice) -> Iterator[str]:
        yield f"role {place.role}"
        yield "in main block" if self.in_main(place) else "outside main block"
        if place.is_labelled:
            yield "class says price"
        elif _says_price(place.element):
            yield "attribute says price"
        if not place.codes:
            yield "no currency mark"
        if place.is_sale:
            yield "class says sale"
        if len(place.text) <= _MAX_TAG_LENGTH:
            yield "alone in its tag"
        if self.is_prose(place):
            yield "in a sentence"
        elif self.has_words(place):
            yield "words beside it"
        if _has_decimals(place):
            yield "has decimals"
        if _is_big(place.element):
            yield "large text"
        if place.element in self._usual_place:
            yield "usual place"
        yield from self._distance_features(place)
        if self._first is not None and self._first.amount == place.amount:
            yield "first price after the title"
        if sum(1 for one in amount.displayed if one.role in _CURRENT and self.in_main(one)) > 1:
            yield "repeated in main block"
        if self.is_in_list(place):
            yield "one of a list"
        if place.role in _CURRENT:
            yield from self._neighbour_features(place)

    def _distance_features(self, place: DisplayedPrice) -> Iterator[str]:
        distance = place.order - self.main.title_order
        if distance < 0:
            yield "before the title"
        elif distance <= _NEAR_TITLE:
            yield "near the title"
        elif distance > _FAR_FROM_TITLE:
            yield "far from the title"
        button = self.main.button
        if button is not None and abs(place.order - button.order) <= _NEAR_BUTTON:
            yield "near the button"

    def _neighbour_features(self, place: DisplayedPrice) -> Iterator[str]:
        nearby = [one for one in self.scan.prices if abs(one.order - place.order) <= SAME_TAG]
        if any(one.role in (Role.LIST, Role.REGULAR) and one.amount > place.amount for one in nearby):
            yield "beside a higher list price"
        rivals = [one.amount for one in nearby if one.role is Role.CURRENT]
        if any(amount < place.amount for amount in rivals):
            yield "beside a lower price"
        if any(amount > place.amount for amount in rivals):
            yield "beside a higher price"


def _collect(prices: list[DisplayedPrice], structured: Iterable[PriceCandidate]) -> list[Amount]:
    """Group displayed and stated amounts by value; a stated amount joins the rounded one that is displayed."""
    found: dict[Decimal, Amount] = {}
    for price in prices:
        if price.amount > 0 and price.role not in (Role.ZERO, Role.NOT_MONEY):
            value = price.amount.normalize()
            found.setdefault(value, Amount(price.amount)).displayed.append(price)
    current = {
        value for value, one in found.items() if any(price.role in _CURRENT for price in one.displayed)
    }
    for witness in structured:
        if witness.amount <= 0:
            continue
        value = witness.amount.normalize()
        if value not in found and value != value.to_integral_value():
            rounded = {value.quantize(Decimal(1), way).normalize() for way in (ROUND_HALF_UP, ROUND_DOWN)}
            value = next(iter(rounded & current), value)
        found.setdefault(value, Amount(witness.amount)).witnesses.append(witness)
    return list(found.values())


def _is_tax(net: Decimal, gross: Decimal) -> bool:
    """Whether two amounts differ by a tax of a whole or half percentage."""
    if not net < gross <= net * (1 + _MAX_TAX_RATE):
        return False
    half_percents = (200 * (gross - net) / net).to_integral_value()
    return abs(net * (1 + half_percents / 200) - gross) <= Decimal("0.02")


def _distinct(prices: list[DisplayedPrice], key: Callable[[DisplayedPrice], Any]) -> dict[str, int]:
    """The number of different values at each place of a page."""
    values: defaultdict[str, set[Any]] = defaultdict(set)
    for price in prices:
        values[price.where].add(key(price))
    return {where: len(found) for where, found in values.items()}


def _words_around(price: DisplayedPrice) -> str:
    """The words on the line of a price, outside of its element, that may be about it.

    Words between two prices label the second.
    """
    before, own, after = _line_of(price).partition(price.text)
    if not own:
        return ""
    label, tail = PERCENTAGE.sub(" ", before), PERCENTAGE.sub(" ", after)
    return f"{label[last_mark_end(label) :]} {'' if _NUMBER.search(tail) else tail}"


def _line_of(price: DisplayedPrice) -> str:
    """The text of the paragraph, cell or box that a price stands in."""
    node = price.element
    while node is not None and node.tag in INLINE and node.getparent() is not None:
        node = node.getparent()
    if node is None:
        return ""
    label = node.getprevious() if node.tag in ("td", "dd") else None
    text = raw_text(node)[: 20 * _MAX_PROSE_LENGTH]
    return collapse_spaces(text if label is None else f"{raw_text(label)[:_MAX_PROSE_LENGTH]} {text}")


def _says_price(element: Element | None) -> bool:
    for _ in range(3):
        if element is None:
            return False
        for name, value in element.items():
            if name not in _UNREAD_ATTRIBUTES and (
                _PRICE_ATTRIBUTE.search(name) or (len(value) < 60 and _PRICE_ATTRIBUTE.search(value))
            ):
                return True
        element = element.getparent()
    return False


def _is_big(element: Element | None) -> bool:
    for _ in range(2):
        if element is None:
            return False
        if element.tag in _BIG_TAGS or _BIG.search(element.get("class") or ""):
            return True
        element = element.getparent()
    return False


def _has_decimals(place: DisplayedPrice) -> bool:
    return place.amount != place.amount.to_integral_value() or "." in place.text or "," in place.text
