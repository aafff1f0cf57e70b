"""Which of a page's candidates is what one customer pays now for one unit, or that it cannot be told.

Agreement between structured data and what a reader sees accepts; disagreement never does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.parsing.prices.price_roles import Role

# How many elements apart two prices may stand and still be one price tag.
_SAME_TAG = 14
# How far after the title a price that contradicts structured data still counts.
_NEAR_TITLE = 170
# The longest text that is a price tag rather than a sentence with a price in it.
_LONGEST_TAG = 24

# Of the price without tax at most: no country's tax on sales is higher.
_HIGHEST_TAX = Decimal("0.3")

# From how many prices of the same build on they are a list.
_MANY = 3

_TELLING = frozenset({Role.FROM, Role.RANGE, Role.INSTALMENT, Role.OTHER_CONDITION, Role.BID})


class PriceVerdict(StrEnum):
    ACCEPTED = "accepted"
    AMBIGUOUS = "ambiguous"
    ZERO = "zero"
    NONE = "none"


@dataclass(slots=True)
class Choice:
    verdict: PriceVerdict
    why: str
    price: PriceCandidate | None = None
    # All candidates that say the same amount as the chosen one.
    agreeing: list[PriceCandidate] = field(default_factory=list)


@dataclass(slots=True)
class _Shown:
    """The prices that a reader sees, sorted by what they are."""

    every: list[PriceCandidate]
    current: list[PriceCandidate]

    def strong(self) -> list[PriceCandidate]:
        return [one for one in self.current if one.shown is not None and one.shown.is_strong]

    def single(self) -> list[PriceCandidate]:
        """The strong ones, without those of a list: many alike in build, unlike in amount."""
        strong = self.strong()
        built = Counter(one.where for one in strong)
        amounts = {where: {one.amount for one in strong if one.where == where} for where in built}
        return [one for one in strong if built[one.where] < _MANY or len(amounts[one.where]) == 1]

    def tags(self) -> list[PriceCandidate]:
        """Those whose text is a price tag's, nearest first."""
        return [one for one in self.current if len(one.text) <= _LONGEST_TAG]


def choose_price(
    structured: list[PriceCandidate],
    shown: list[PriceCandidate],
    *,
    is_trusted: bool,
    is_product_page: bool,
    is_sold_out: bool = False,
    has_currency: bool = False,
) -> Choice:
    """The price, given what structured data and the page show; trusted data is about this page's product.

    A page whose currency is known may show its price as a bare number.
    """
    seen = _Shown(shown, _current(shown))
    current = [one for one in structured if one.role is Role.CURRENT and one.amount > 0]
    amounts = {one.amount for one in current}
    if len(amounts) == 1:
        choice = _one_amount(current[0], current, seen, is_trusted=is_trusted)
    elif amounts:
        choice = _several_amounts(current, amounts, seen)
    elif any(one.role in (Role.RANGE, Role.FROM) and one.amount > 0 for one in structured):
        choice = _range(structured, seen)
    elif any(one.role is Role.CURRENT for one in structured):
        choice = _zero(seen)
    else:
        is_marked = any(one.shown and one.shown.codes for one in seen.every)
        if has_currency and not is_marked:
            choice = _only_amount(seen.single(), seen, is_product_page=is_product_page)
        else:
            choice = _shown_only(seen, is_product_page=is_product_page, is_sold_out=is_sold_out)
    if choice.price is not None and (higher := _higher_instalment(choice.price, seen)):
        choice = Choice(
            PriceVerdict.AMBIGUOUS,
            f"the page shows {choice.price.amount} beside instalments of {higher.amount}",
        )
    if choice.price is not None:
        choice.agreeing = [one for one in [*structured, *seen.current] if one.amount == choice.price.amount]
    return choice


def _one_amount(
    price: PriceCandidate, all_of_it: list[PriceCandidate], seen: _Shown, *, is_trusted: bool
) -> Choice:
    roles = {one.role for one in seen.every if one.amount == price.amount}
    confirming = [one for one in seen.current if one.amount == price.amount]
    lower = [one for one in seen.strong() if one.amount < price.amount]
    is_named_price = any(one.shown and one.shown.is_strong for one in confirming)
    if lower and not is_named_price and (Role.LIST in roles or (Role.REGULAR in roles and not confirming)):
        return _sale_price(price, lower)
    if confirming:
        below = lower if Role.LIST in roles else [one for one in lower if _is_beside(one, confirming)]
        if below and not any(one.shown and one.shown.is_sale for one in confirming):
            return Choice(
                PriceVerdict.AMBIGUOUS,
                f"the page shows a lower price {below[0].amount} beside {price.amount}",
            )
        return Choice(PriceVerdict.ACCEPTED, "structured data and page agree", price)
    if Role.NET in roles and (gross := _with_tax(price, seen)):
        return Choice(PriceVerdict.ACCEPTED, f"the page calls {price.amount} a price without tax", gross)
    if Role.LIST in roles:
        return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {price.amount} as list price only")
    if roles & _TELLING:
        return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {price.amount} as {min(roles & _TELLING)}")
    against = [one for one in seen.single() or seen.tags()[:1] if _contradicts(one)]
    if against:
        return Choice(
            PriceVerdict.AMBIGUOUS, f"structured data says {price.amount}, the page shows {against[0].amount}"
        )
    sources = {one.source for one in all_of_it}
    if is_trusted or len(sources) > 1:
        return Choice(PriceVerdict.ACCEPTED, "structured data of this page's product", price)
    return Choice(PriceVerdict.AMBIGUOUS, "structured data that nothing ties to this page's product")


def _higher_instalment(price: PriceCandidate, seen: _Shown) -> PriceCandidate | None:
    """Where a month costs more than the price does, the price is only what is paid at first."""
    told = [one for one in seen.current if one.amount == price.amount]
    higher = (one for one in seen.every if one.role is Role.INSTALMENT and one.amount >= price.amount)
    return next((one for one in higher if not told or _is_beside(one, told)), None)


def _sale_price(listed: PriceCandidate, lower: list[PriceCandidate]) -> Choice:
    """Structured data carries the crossed-out price: the one beside it counts, if there is exactly one."""
    if len({one.amount for one in lower}) == 1:
        return Choice(
            PriceVerdict.ACCEPTED,
            f"the page shows {listed.amount} as list price and sells for less",
            lower[0],
        )
    return Choice(
        PriceVerdict.AMBIGUOUS, f"the page shows {listed.amount} as list price and several lower ones"
    )


def _with_tax(net: PriceCandidate, seen: _Shown) -> PriceCandidate | None:
    """The one price that the page shows beside a price without tax, if the difference can be the tax."""
    prices = [one for one in seen.single() or seen.tags() if one.shown and one.shown.codes]
    most = net.amount * (1 + _HIGHEST_TAX)
    if len({one.amount for one in prices}) != 1 or not net.amount < prices[0].amount <= most:
        return None
    return prices[0]


def _several_amounts(current: list[PriceCandidate], amounts: set[Decimal], seen: _Shown) -> Choice:
    first = next(iter(seen.strong() or seen.current), None)
    if first is None or first.amount not in amounts:
        return Choice(
            PriceVerdict.AMBIGUOUS, f"structured data gives {len(amounts)} prices and the page confirms none"
        )
    both = {one.amount for one in seen.single() or seen.current} & amounts
    if len(both) > 1:
        return Choice(
            PriceVerdict.AMBIGUOUS, f"the page shows {len(both)} of the prices in its structured data"
        )
    beside = {one.amount for one in seen.current if _is_beside(one, [first])}
    if any(amount < first.amount for amount in beside):
        return Choice(PriceVerdict.AMBIGUOUS, "structured data and page both give several prices")
    price = next(one for one in current if one.amount == first.amount)
    return Choice(PriceVerdict.ACCEPTED, "the page shows one of the prices in its structured data", price)


def _range(structured: list[PriceCandidate], seen: _Shown) -> Choice:
    amounts = {one.amount for one in seen.strong()}
    lows = [one for one in structured if one.role in (Role.RANGE, Role.FROM) and one.amount > 0]
    low = min(lows, key=lambda one: one.amount)
    high = low.offer.high if low.offer else None
    if len(amounts) == 1:
        shown = seen.strong()[0]
        if low.amount <= shown.amount and (high is None or shown.amount <= high):
            shown.currency = shown.currency or low.currency
            return Choice(
                PriceVerdict.ACCEPTED,
                "the page shows one price within the range of its structured data",
                shown,
            )
    return Choice(PriceVerdict.AMBIGUOUS, f"structured data gives a range from {low.amount}")


def _zero(seen: _Shown) -> Choice:
    if seen.strong():
        return Choice(
            PriceVerdict.AMBIGUOUS, f"structured data says zero, the page shows {seen.strong()[0].amount}"
        )
    return Choice(PriceVerdict.ZERO, "structured data says zero")


def _shown_only(seen: _Shown, *, is_product_page: bool, is_sold_out: bool) -> Choice:
    prices = [one for one in seen.single() if one.shown and one.shown.codes]
    # What is sold out may show no price, but those of other things that can be bought.
    if not prices and not is_sold_out:
        prices = [one for one in seen.tags() if one.shown and one.shown.codes]
    return _only_amount(prices, seen, is_product_page=is_product_page)


def _only_amount(prices: list[PriceCandidate], seen: _Shown, *, is_product_page: bool) -> Choice:
    if not prices and is_product_page and any(one.role is Role.ZERO for one in seen.every):
        return Choice(PriceVerdict.ZERO, "the page shows zero")
    if not prices:
        return Choice(PriceVerdict.NONE, "no price found")
    if not is_product_page:
        return Choice(PriceVerdict.NONE, "prices, but nothing that says this is a product's page")
    amounts = {one.amount for one in prices}
    if len(amounts) > 1:
        return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {len(amounts)} prices")
    starting = [one for one in seen.every if one.role is Role.FROM and one.amount < prices[0].amount]
    if any(_is_beside(one, prices) for one in starting):
        return Choice(
            PriceVerdict.AMBIGUOUS, f"the page shows {prices[0].amount} beside from {starting[0].amount}"
        )
    return Choice(PriceVerdict.ACCEPTED, "the only price that the page shows", prices[0])


def _current(shown: list[PriceCandidate]) -> list[PriceCandidate]:
    """What may be the price: a regular price too, unless the page shows a lower current one."""
    current = [one for one in shown if one.role is Role.CURRENT]
    strong = [one.amount for one in current if one.shown and one.shown.is_strong]
    lowest = min(strong, default=None)
    regular = [one for one in shown if one.role is Role.REGULAR and (lowest is None or one.amount <= lowest)]
    return sorted([*current, *regular], key=_place)


def _place(one: PriceCandidate) -> tuple[bool, int]:
    order = one.shown.order if one.shown else 0
    return order < 0, abs(order)


def _is_beside(one: PriceCandidate, others: list[PriceCandidate]) -> bool:
    return any(
        one.shown is not None
        and other.shown is not None
        and abs(one.shown.order - other.shown.order) <= _SAME_TAG
        for other in others
    )


def _contradicts(one: PriceCandidate) -> bool:
    return one.shown is not None and bool(one.shown.codes) and -_SAME_TAG < one.shown.order < _NEAR_TITLE
