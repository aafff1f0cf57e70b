"""Choose the price that one customer pays now for one unit, or report why it is ambiguous.

A price is accepted if structured data and the displayed page agree, never if they disagree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.parsing.prices.price_roles import Role

# Maximum distance, in elements, of two prices in one price tag.
_SAME_TAG_DISTANCE = 14
# Maximum distance from the title at which a price can contradict structured data.
_NEAR_TITLE_DISTANCE = 170
# A longer text is a sentence with a price in it, not a price tag.
_MAX_TAG_LENGTH = 24

# Share of the net price; no country has a higher sales tax.
_MAX_TAX_RATE = Decimal("0.3")

# This many prices in elements of the same kind are a list.
_LIST_LENGTH = 3

_EXCLUDING_ROLES = frozenset({Role.FROM, Role.RANGE, Role.INSTALMENT, Role.OTHER_CONDITION, Role.BID})


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
    # All candidates with the same amount as the chosen one.
    agreeing: list[PriceCandidate] = field(default_factory=list)


@dataclass(slots=True)
class _DisplayedPrices:
    """The displayed prices of a page."""

    all_prices: list[PriceCandidate]
    current: list[PriceCandidate]

    def labelled(self) -> list[PriceCandidate]:
        return [one for one in self.current if one.displayed is not None and one.displayed.is_labelled]

    def single(self) -> list[PriceCandidate]:
        """Labelled prices, except those of lists: many elements of the same kind with different amounts."""
        labelled = self.labelled()
        counts = Counter(one.where for one in labelled)
        amounts = {where: {one.amount for one in labelled if one.where == where} for where in counts}
        return [one for one in labelled if counts[one.where] < _LIST_LENGTH or len(amounts[one.where]) == 1]

    def tags(self) -> list[PriceCandidate]:
        """Prices whose text is short enough for a price tag, nearest first."""
        return [one for one in self.current if len(one.text) <= _MAX_TAG_LENGTH]


def choose_price(
    structured: list[PriceCandidate],
    displayed_prices: list[PriceCandidate],
    *,
    is_trusted: bool,
    is_product_page: bool,
    is_out_of_stock: bool = False,
    has_expected_currency: bool = False,
) -> Choice:
    """Choose between structured and displayed prices; trusted data is about this page's product.

    With an expected currency, the price may be a bare number.
    """
    displayed = _DisplayedPrices(displayed_prices, _current(displayed_prices))
    current = [one for one in structured if one.role is Role.CURRENT and one.amount > 0]
    amounts = {one.amount for one in current}
    if len(amounts) == 1:
        choice = _one_amount(current[0], current, displayed, is_trusted=is_trusted)
    elif amounts:
        choice = _several_amounts(current, amounts, displayed)
    elif any(one.role in (Role.RANGE, Role.FROM) and one.amount > 0 for one in structured):
        choice = _price_range(structured, displayed)
    elif any(one.role is Role.CURRENT for one in structured):
        choice = _zero(displayed)
    else:
        is_marked = any(one.displayed and one.displayed.codes for one in displayed.all_prices)
        if has_expected_currency and not is_marked:
            choice = _single_amount(displayed.single(), displayed, is_product_page=is_product_page)
        else:
            choice = _displayed_only(
                displayed, is_product_page=is_product_page, is_out_of_stock=is_out_of_stock
            )
    if choice.price is not None and (higher := _higher_instalment(choice.price, displayed)):
        choice = Choice(
            PriceVerdict.AMBIGUOUS,
            f"the page shows {choice.price.amount} next to instalments of {higher.amount}",
        )
    if choice.price is not None:
        choice.agreeing = [
            one for one in [*structured, *displayed.current] if one.amount == choice.price.amount
        ]
    return choice


def _one_amount(
    price: PriceCandidate, candidates: list[PriceCandidate], displayed: _DisplayedPrices, *, is_trusted: bool
) -> Choice:
    roles = {one.role for one in displayed.all_prices if one.amount == price.amount}
    confirming = [one for one in displayed.current if one.amount == price.amount]
    lower = [one for one in displayed.labelled() if one.amount < price.amount]
    is_labelled = any(one.displayed and one.displayed.is_labelled for one in confirming)
    if lower and not is_labelled and (Role.LIST in roles or (Role.REGULAR in roles and not confirming)):
        return _sale_price(price, lower)
    if confirming:
        below = lower if Role.LIST in roles else [one for one in lower if _is_near(one, confirming)]
        if below and not any(one.displayed and one.displayed.is_sale for one in confirming):
            return Choice(
                PriceVerdict.AMBIGUOUS,
                f"the page shows a lower price {below[0].amount} next to {price.amount}",
            )
        return Choice(PriceVerdict.ACCEPTED, "structured data and page agree", price)
    if Role.NET in roles and (gross := _gross_price(price, displayed)):
        return Choice(PriceVerdict.ACCEPTED, f"the page calls {price.amount} a price without tax", gross)
    if Role.LIST in roles:
        return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {price.amount} as list price only")
    if roles & _EXCLUDING_ROLES:
        return Choice(
            PriceVerdict.AMBIGUOUS, f"the page shows {price.amount} as {min(roles & _EXCLUDING_ROLES)}"
        )
    contradicting = [one for one in displayed.single() or displayed.tags()[:1] if _contradicts(one)]
    if contradicting:
        return Choice(
            PriceVerdict.AMBIGUOUS,
            f"structured data says {price.amount}, the page shows {contradicting[0].amount}",
        )
    sources = {one.source for one in candidates}
    if is_trusted or len(sources) > 1:
        return Choice(PriceVerdict.ACCEPTED, "structured data of this page's product", price)
    return Choice(PriceVerdict.AMBIGUOUS, "nothing connects the structured data to this page's product")


def _higher_instalment(price: PriceCandidate, displayed: _DisplayedPrices) -> PriceCandidate | None:
    """An instalment that is at least the price: the price is then only a down payment."""
    same = [one for one in displayed.current if one.amount == price.amount]
    higher = (
        one for one in displayed.all_prices if one.role is Role.INSTALMENT and one.amount >= price.amount
    )
    return next((one for one in higher if not same or _is_near(one, same)), None)


def _sale_price(listed: PriceCandidate, lower: list[PriceCandidate]) -> Choice:
    """Structured data has the crossed-out price: a single lower price on the page counts instead."""
    if len({one.amount for one in lower}) == 1:
        return Choice(
            PriceVerdict.ACCEPTED,
            f"the page shows {listed.amount} as list price and sells for less",
            lower[0],
        )
    return Choice(
        PriceVerdict.AMBIGUOUS, f"the page shows {listed.amount} as list price and several lower ones"
    )


def _gross_price(net: PriceCandidate, displayed: _DisplayedPrices) -> PriceCandidate | None:
    """The single displayed price above a net price, if the difference can be the tax."""
    prices = [one for one in displayed.single() or displayed.tags() if one.displayed and one.displayed.codes]
    limit = net.amount * (1 + _MAX_TAX_RATE)
    if len({one.amount for one in prices}) != 1 or not net.amount < prices[0].amount <= limit:
        return None
    return prices[0]


def _several_amounts(
    current: list[PriceCandidate], amounts: set[Decimal], displayed: _DisplayedPrices
) -> Choice:
    first = next(iter(displayed.labelled() or displayed.current), None)
    if first is None or first.amount not in amounts:
        return Choice(
            PriceVerdict.AMBIGUOUS,
            f"structured data gives {len(amounts)} prices and the page shows none of them",
        )
    both = {one.amount for one in displayed.single() or displayed.current} & amounts
    if len(both) > 1:
        return Choice(
            PriceVerdict.AMBIGUOUS, f"the page shows {len(both)} of the prices in its structured data"
        )
    nearby = {one.amount for one in displayed.current if _is_near(one, [first])}
    if any(amount < first.amount for amount in nearby):
        return Choice(PriceVerdict.AMBIGUOUS, "structured data and page both give several prices")
    price = next(one for one in current if one.amount == first.amount)
    return Choice(PriceVerdict.ACCEPTED, "the page shows one of the prices in its structured data", price)


def _price_range(structured: list[PriceCandidate], displayed: _DisplayedPrices) -> Choice:
    amounts = {one.amount for one in displayed.labelled()}
    lows = [one for one in structured if one.role in (Role.RANGE, Role.FROM) and one.amount > 0]
    low = min(lows, key=lambda one: one.amount)
    high = low.offer.high if low.offer else None
    if len(amounts) == 1:
        price = displayed.labelled()[0]
        if low.amount <= price.amount and (high is None or price.amount <= high):
            price.currency = price.currency or low.currency
            return Choice(
                PriceVerdict.ACCEPTED,
                "the page shows one price within the range of its structured data",
                price,
            )
    return Choice(PriceVerdict.AMBIGUOUS, f"structured data gives a range from {low.amount}")


def _zero(displayed: _DisplayedPrices) -> Choice:
    if displayed.labelled():
        return Choice(
            PriceVerdict.AMBIGUOUS,
            f"structured data says zero, the page shows {displayed.labelled()[0].amount}",
        )
    return Choice(PriceVerdict.ZERO, "structured data says zero")


def _displayed_only(displayed: _DisplayedPrices, *, is_product_page: bool, is_out_of_stock: bool) -> Choice:
    prices = [one for one in displayed.single() if one.displayed and one.displayed.codes]
    # A page of a product that is out of stock may display prices of other products only.
    if not prices and not is_out_of_stock:
        prices = [one for one in displayed.tags() if one.displayed and one.displayed.codes]
    return _single_amount(prices, displayed, is_product_page=is_product_page)


def _single_amount(
    prices: list[PriceCandidate], displayed: _DisplayedPrices, *, is_product_page: bool
) -> Choice:
    if not prices and is_product_page and any(one.role is Role.ZERO for one in displayed.all_prices):
        return Choice(PriceVerdict.ZERO, "the page shows zero")
    if not prices:
        return Choice(PriceVerdict.NONE, "no price found")
    if not is_product_page:
        return Choice(PriceVerdict.NONE, "there are prices, but this is not a product page")
    amounts = {one.amount for one in prices}
    if len(amounts) > 1:
        return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {len(amounts)} prices")
    from_prices = [
        one for one in displayed.all_prices if one.role is Role.FROM and one.amount < prices[0].amount
    ]
    if any(_is_near(one, prices) for one in from_prices):
        return Choice(
            PriceVerdict.AMBIGUOUS,
            f'the page shows {prices[0].amount} next to "from {from_prices[0].amount}"',
        )
    return Choice(PriceVerdict.ACCEPTED, "the only price that the page shows", prices[0])


def _current(prices: list[PriceCandidate]) -> list[PriceCandidate]:
    """Prices that may be the current one; a regular price counts unless a lower one is labelled."""
    current = [one for one in prices if one.role is Role.CURRENT]
    labelled = [one.amount for one in current if one.displayed and one.displayed.is_labelled]
    lowest = min(labelled, default=None)
    regular = [one for one in prices if one.role is Role.REGULAR and (lowest is None or one.amount <= lowest)]
    return sorted([*current, *regular], key=_position)


def _position(one: PriceCandidate) -> tuple[bool, int]:
    order = one.displayed.order if one.displayed else 0
    return order < 0, abs(order)


def _is_near(one: PriceCandidate, others: list[PriceCandidate]) -> bool:
    return any(
        one.displayed is not None
        and other.displayed is not None
        and abs(one.displayed.order - other.displayed.order) <= _SAME_TAG_DISTANCE
        for other in others
    )


def _contradicts(one: PriceCandidate) -> bool:
    return (
        one.displayed is not None
        and bool(one.displayed.codes)
        and -_SAME_TAG_DISTANCE < one.displayed.order < _NEAR_TITLE_DISTANCE
    )
