"""The amounts of a page: each with the places that display it and the structured data that states it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

from pricewatch.generic_reader.candidates import PriceCandidate, displayed_candidates
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.pages.main_block import MainBlock
from pricewatch.parsing.pages.page_scan import Notice
from pricewatch.parsing.pages.price_surroundings import has_words_beside, is_in_sentence
from pricewatch.parsing.prices.price_roles import Role, includes_tax
from pricewatch.parsing.prices.price_words import PERCENTAGE

# Roles of an amount that may be the price; a regular price is the price if there is no lower one.
PRICE_ROLES = (Role.CURRENT, Role.REGULAR)
# Maximum distance, in displayed elements, of two prices in one price tag.
SAME_TAG = 14
# Share of the net price; no country has a higher sales tax.
MAX_TAX_RATE = Decimal("0.3")
# This many prices in elements of the same kind are a list.
_LIST_LENGTH = 3


@dataclass(slots=True)
class Amount:
    """One amount; `features` and `score` say how likely it is the price, `excluded` why it is not."""

    value: Decimal
    displayed: list[DisplayedPrice] = field(default_factory=list)
    witnesses: list[PriceCandidate] = field(default_factory=list)
    features: frozenset[str] = frozenset()
    score: float = 0.0
    excluded: str = ""

    @property
    def is_stated(self) -> bool:
        return any(one.role is Role.CURRENT for one in self.witnesses)

    @property
    def has_sale_label(self) -> bool:
        return any(one.is_sale and one.role in PRICE_ROLES for one in self.displayed)

    @property
    def has_uncertain_role(self) -> bool:
        """Whether only class names say that it is another amount than the price."""
        return bool(self.displayed) and not any(one.has_certain_role for one in self.displayed)


class PageAmounts:
    """The amounts of a page, and the look of the places that display them."""

    def __init__(
        self, main: MainBlock, structured: Iterable[PriceCandidate], usual_place: Iterable[Element] = ()
    ) -> None:
        self.main, self.prices = main, main.scan.prices
        self.displayed = list(displayed_candidates(self.prices))
        self.displays_zero = any(one.role is Role.ZERO for one in self.prices)
        # The first price at the usual place; other elements may have the same names.
        places = set(usual_place)
        self._usual_place = next((one.element for one in self.prices if one.element in places), None)
        self._elements_at = _distinct(self.prices, lambda one: one.element)
        self._amounts_at = _distinct(self.prices, lambda one: one.amount)
        self._in_sentence: dict[int, bool] = {}
        self._with_words: dict[int, bool] = {}
        self.amounts = _collect(self.prices, structured)
        self._separate_other_currencies()
        self._separate_net_prices()

    def stated(self) -> list[Amount]:
        """The amounts that structured data gives as the price."""
        return [amount for amount in self.amounts if amount.is_stated]

    def current(self) -> list[DisplayedPrice]:
        """The displayed prices of the main block that may be the current one, in the order of the page."""
        return [
            one
            for one in self.prices
            if one.role is Role.CURRENT and self.in_main(one) and (one.codes or one.is_labelled)
        ]

    def best_place(self, amount: Amount) -> DisplayedPrice | None:
        """The place where the amount most likely is a price tag."""
        return min(amount.displayed, key=self._preference, default=None)

    def in_main(self, price: DisplayedPrice) -> bool:
        return self.main.contains(price.order)

    def is_labelled(self, price: DisplayedPrice) -> bool:
        """Whether a class marks the price, or prices stood at this place on other pages of the shop."""
        return price.is_labelled or self.is_at_usual_place(price)

    def is_at_usual_place(self, price: DisplayedPrice) -> bool:
        return price.element is not None and price.element is self._usual_place

    def is_in_list(self, price: DisplayedPrice) -> bool:
        """Whether the price is one of several different prices in elements of the same kind."""
        return min(self._elements_at[price.where], self._amounts_at[price.where]) >= _LIST_LENGTH

    def is_in_sentence(self, price: DisplayedPrice) -> bool:
        if id(price) not in self._in_sentence:
            self._in_sentence[id(price)] = is_in_sentence(price)
        return self._in_sentence[id(price)]

    def has_words(self, price: DisplayedPrice) -> bool:
        """Whether other words than "price" stand beside the price."""
        if id(price) not in self._with_words:
            self._with_words[id(price)] = has_words_beside(price)
        return self._with_words[id(price)]

    def includes_tax(self, prices: Iterable[DisplayedPrice]) -> bool:
        """Whether the page says next to one of the prices that it includes tax."""
        return any(includes_tax(one.text.lower()) for price in prices for one in self._notices_beside(price))

    def has_discount(self, price: DisplayedPrice) -> bool:
        """Whether a percentage stands next to the price: of two prices, the higher one is the old one."""
        return any(PERCENTAGE.search(one.text) is not None for one in self._notices_beside(price))

    def _notices_beside(self, price: DisplayedPrice) -> list[Notice]:
        """The short texts next to a price; they are in the order of the page."""
        notices = self.main.scan.notices
        start = bisect_left(notices, price.order - SAME_TAG, key=_order)
        return notices[start : bisect_right(notices, price.order + SAME_TAG, key=_order)]

    def _preference(self, price: DisplayedPrice) -> tuple[int, bool, bool, bool, int]:
        return (
            PRICE_ROLES.index(price.role) if price.role in PRICE_ROLES else len(PRICE_ROLES),
            not self.in_main(price),
            not self.is_labelled(price),
            not price.codes,
            abs(price.order - self.main.title_order),
        )

    def _separate_other_currencies(self) -> None:
        """Leave out data in another currency than the displayed price, if other data is in that one."""
        marks = [set(one.codes) for one in self.current() if one.codes]
        witnesses = [one for amount in self.amounts if not amount.displayed for one in amount.witnesses]
        stated = {one.currency for amount in self.amounts for one in amount.witnesses if one.currency}
        displayed = set.intersection(*marks) if marks else set()
        if displayed & stated:
            for witness in witnesses:
                if witness.currency and witness.currency not in displayed:
                    witness.role = Role.EXTRA

    def _separate_net_prices(self) -> None:
        """Give stated amounts the role NET if the page displays them with tax, and says so."""
        undisplayed = [amount for amount in self.stated() if not amount.displayed]
        for price in {one.amount: one for one in self.current()}.values() if undisplayed else ():
            for amount in undisplayed:
                if _is_tax(amount.value, price.amount) and self.includes_tax([price]):
                    for witness in amount.witnesses:
                        witness.role = Role.NET


def _collect(prices: list[DisplayedPrice], structured: Iterable[PriceCandidate]) -> list[Amount]:
    """Group amounts by value; a stated amount joins the rounded one that is displayed."""
    found: dict[Decimal, Amount] = {}
    for price in prices:
        if price.amount > 0 and price.role not in (Role.ZERO, Role.NOT_MONEY):
            value = price.amount.normalize()
            found.setdefault(value, Amount(price.amount)).displayed.append(price)
    current = {
        value for value, one in found.items() if any(price.role in PRICE_ROLES for price in one.displayed)
    }
    for witness in structured:
        if witness.amount <= 0:
            continue
        value = witness.amount.normalize()
        if value not in found and value != value.to_integral_value():
            rounded = {value.quantize(Decimal(1), way).normalize() for way in (ROUND_HALF_UP, ROUND_DOWN)}
            value = next(iter(sorted(rounded & current, reverse=True)), value)
        found.setdefault(value, Amount(witness.amount)).witnesses.append(witness)
    return list(found.values())


def _order(notice: Notice) -> int:
    return notice.order


def _is_tax(net: Decimal, gross: Decimal) -> bool:
    """Whether two amounts differ by a tax of a whole or half percentage."""
    if not net < gross <= net * (1 + MAX_TAX_RATE):
        return False
    half_percents = (200 * (gross - net) / net).to_integral_value()
    return abs(net * (1 + half_percents / 200) - gross) <= Decimal("0.02")


def _distinct(prices: list[DisplayedPrice], key: Callable[[DisplayedPrice], Any]) -> dict[str, int]:
    """The number of different values at each place of a page."""
    values: defaultdict[str, set[Any]] = defaultdict(set)
    for price in prices:
        values[price.where].add(key(price))
    return {where: len(found) for where, found in values.items()}
