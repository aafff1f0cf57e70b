"""Why an amount cannot be the price, whatever its score: its role, its place, the words beside it."""

from __future__ import annotations

from dataclasses import dataclass

from pricewatch.generic_reader.page_amounts import MAX_TAX_RATE, PRICE_ROLES, SAME_TAG, Amount, PageAmounts
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.prices.price_roles import Role

# An amount that the page displays only in such a role is not the price, even if structured data states it.
EXCLUDING_ROLES = frozenset(
    {
        Role.LIST,
        Role.FROM,
        Role.RANGE,
        Role.INSTALMENT,
        Role.OTHER_CONDITION,
        Role.BID,
        Role.SAVING,
        Role.EXTRA,
    }
)
# Without a buy button, prices farther from the title are of something else.
_FAR_FROM_TITLE = 200


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What is known of the page besides its amounts."""

    # Structured data is about this page's product.
    is_trusted: bool
    # Something says that the page sells one product: structured data, a button, its stock.
    is_product_page: bool
    # There is a button that puts the product into a cart.
    can_be_bought: bool = False
    # A user gave the currency, so that the price may be a bare number.
    has_expected_currency: bool = False


def why_excluded(amount: Amount, page: PageAmounts, evidence: PageEvidence) -> str:
    """The reason why the amount cannot be the price; empty if it can."""
    reasons = [why_no_tag(one, page, evidence) for one in amount.displayed]
    if "" in reasons:
        return ""
    if not amount.is_stated:
        return reasons[0] if reasons else "structured data gives it as another amount"
    certain = {one.role for one in amount.displayed if one.has_certain_role and page.in_main(one)}
    if _is_without_tax(amount, page):
        return "the page displays it without tax, and a higher price"
    if _is_sold_for_less(amount, page):
        return "it is the list price of a lower price"
    shown = any(one.role in PRICE_ROLES for one in amount.displayed)
    excluding = sorted(certain & EXCLUDING_ROLES)
    return f"the page displays it as {excluding[0]}" if excluding and not shown else ""


def why_no_tag(price: DisplayedPrice, page: PageAmounts, evidence: PageEvidence) -> str:
    """The reason why a displayed amount cannot be the price without data that states it; empty if it can."""
    if price.role not in PRICE_ROLES:
        return f"the page displays it as {price.role}"
    if not price.codes and not (price.is_labelled and evidence.has_expected_currency):
        return "it has no currency mark"
    if not page.in_main(price):
        return "it is outside of the main product block"
    if page.is_in_sentence(price):
        return "it is a part of a sentence"
    if page.is_in_list(price):
        return "it is one of a list of prices"
    is_labelled = page.is_labelled(price)
    if not is_labelled and page.has_words(price):
        return "the words beside it are not known to mean the price"
    distance = price.order - page.main.title_order
    if distance < 0 and not (is_labelled and evidence.can_be_bought):
        return "it is before the title"
    if distance < 0 and any(one.order > page.main.title_order and one.is_labelled for one in page.current()):
        return "it is before the title, and a price follows the title"
    if distance > _FAR_FROM_TITLE and not evidence.can_be_bought:
        return "it is far from the title, and there is no buy button"
    return ""


def _is_without_tax(amount: Amount, page: PageAmounts) -> bool:
    """Whether the page displays the amount without tax, and a price that can be the one with tax."""
    limit = amount.value * (1 + MAX_TAX_RATE)
    return any(one.role is Role.NET and page.in_main(one) for one in amount.displayed) and any(
        amount.value < one.amount <= limit and page.in_main(one) and one.role in (*PRICE_ROLES, Role.PER_UNIT)
        for one in page.prices
    )


def _is_sold_for_less(amount: Amount, page: PageAmounts) -> bool:
    """Whether the amount is a list price by its class, and a lower price stands in the same tag."""
    listed = [one for one in amount.displayed if one.role is Role.LIST]
    return any(
        one.is_labelled and one.amount < amount.value and abs(one.order - price.order) <= SAME_TAG
        for price in listed
        for one in page.current()
    )
