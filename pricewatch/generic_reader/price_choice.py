"""Choose the price that one customer pays now for one unit, or report why it is ambiguous.

The amounts of a page are scored by their features. The best one is accepted if it beats the second by a
margin and nothing on the page contradicts it; a contradiction is never outweighed by a score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.generic_reader.price_features import SAME_TAG, Amount, AmountsOfPage
from pricewatch.generic_reader.price_weights import MARGIN, score_of
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.prices.price_roles import Role

# Share of the net price; no country has a higher sales tax.
_MAX_TAX_RATE = Decimal("0.3")
# An amount that the page displays only in such a role is not the price, even if structured data states it.
_EXCLUDING_ROLES = (
    Role.LIST,
    Role.FROM,
    Role.RANGE,
    Role.INSTALMENT,
    Role.OTHER_CONDITION,
    Role.BID,
    Role.SAVING,
)
# Without a buy button, prices farther from the title are of something else.
_FAR_FROM_TITLE = 200
_CURRENT = (Role.CURRENT, Role.REGULAR)


class PriceVerdict(StrEnum):
    ACCEPTED = "accepted"
    AMBIGUOUS = "ambiguous"
    ZERO = "zero"
    NONE = "none"


@dataclass(slots=True)
class Choice:
    verdict: PriceVerdict
    why: str
    price: Amount | None = None
    # All candidates with the same amount as the chosen one.
    agreeing: list[PriceCandidate] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What is known of the page besides its amounts."""

    # Structured data is about this page's product.
    is_trusted: bool
    # Something says that the page sells one product: structured data, a button, its stock.
    is_product_page: bool
    is_out_of_stock: bool = False
    # There is a button that puts the product into a cart.
    can_be_bought: bool = False
    # A user gave the currency, so that the price may be a bare number.
    has_expected_currency: bool = False


def choose_price(page: AmountsOfPage, structured: list[PriceCandidate], evidence: PageEvidence) -> Choice:
    return _Choosing(page, structured, evidence).choice()


class _Choosing:
    def __init__(self, page: AmountsOfPage, structured: list[PriceCandidate], evidence: PageEvidence) -> None:
        self.page, self.structured, self.evidence = page, structured, evidence
        self.stated = [amount for amount in page.amounts if amount.is_stated]
        self.has_zero = any(one.role is Role.CURRENT and one.amount == 0 for one in structured)

    def choice(self) -> Choice:
        if self.has_zero and not self.stated:
            return self._zero()
        eligible = [amount for amount in self.page.amounts if self._is_eligible(amount)]
        for amount in eligible:
            amount.score = score_of(amount.features)
        eligible.sort(key=lambda amount: -amount.score)
        if not eligible:
            return self._nothing_eligible()
        best = eligible[0]
        if not best.is_stated and not self.evidence.is_product_page:
            return Choice(PriceVerdict.NONE, "there are prices, but this is not a product page")
        if problem := self._contradiction(best) or self._too_close(eligible):
            return Choice(PriceVerdict.AMBIGUOUS, problem)
        return Choice(PriceVerdict.ACCEPTED, self._why(best), best, self._agreeing(best))

    def _is_eligible(self, amount: Amount) -> bool:
        """Whether the amount may be the price: displayed as one, or stated and not displayed as another."""
        shown = [one for one in amount.displayed if one.role in _CURRENT]
        if any(self._is_tag(one) for one in shown):
            return True
        if not amount.is_stated:
            return False
        roles = {one.role for one in amount.displayed if one.has_certain_role and self.page.in_main(one)}
        if Role.NET in roles and any(one.amount > amount.value for one in self.page.current()):
            return False
        if self._is_sold_for_less(amount):
            return False
        return bool(shown) or not roles & set(_EXCLUDING_ROLES)

    def _is_sold_for_less(self, amount: Amount) -> bool:
        """Whether the amount is a list price by its class, and a lower price stands in the same tag."""
        listed = [one for one in amount.displayed if one.role is Role.LIST]
        return any(
            one.is_labelled and one.amount < amount.value and abs(one.order - price.order) <= SAME_TAG
            for price in listed
            for one in self.page.current()
        )

    def _is_tag(self, price: DisplayedPrice) -> bool:
        """Whether a displayed price can be the price without structured data that states it."""
        if not price.codes and not (price.is_labelled and self.evidence.has_expected_currency):
            return False
        if not self.page.in_main(price) or self.page.is_prose(price) or self.page.is_in_list(price):
            return False
        distance = price.order - self.page.main.title_order
        if distance < 0 and not (price.is_labelled and self.evidence.can_be_bought):
            return False
        if not price.is_labelled and self.page.has_words(price):
            return False
        if distance > _FAR_FROM_TITLE and not self.evidence.can_be_bought:
            return False
        return True

    def _zero(self) -> Choice:
        labelled = [one for one in self.page.current() if one.is_labelled]
        if labelled:
            why = f"structured data says zero, the page shows {labelled[0].amount}"
            return Choice(PriceVerdict.AMBIGUOUS, why)
        return Choice(PriceVerdict.ZERO, "structured data says zero")

    def _nothing_eligible(self) -> Choice:
        for amount in self.stated:
            role = next((one.role for one in amount.displayed if one.role in _EXCLUDING_ROLES), None)
            if role is not None:
                return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {amount.value} as {role}")
        if self.stated:
            why = f"structured data says {self.stated[0].value}, which the page does not show as the price"
            return Choice(PriceVerdict.AMBIGUOUS, why)
        ranges = [one for one in self.structured if one.role in (Role.RANGE, Role.FROM) and one.amount > 0]
        if ranges:
            low = min(one.amount for one in ranges)
            return Choice(PriceVerdict.AMBIGUOUS, f"structured data gives a range from {low}")
        if self.evidence.is_product_page and self.page.displays_zero:
            return Choice(PriceVerdict.ZERO, "the page shows zero")
        return Choice(PriceVerdict.NONE, "no price found")

    def _contradiction(self, best: Amount) -> str:
        """What contradicts the amount, or an empty text."""
        shown = [
            one
            for one in best.displayed
            if self.page.in_main(one)
            and not self.page.is_prose(one)
            and (one.role in _CURRENT or (best.is_stated and not one.has_certain_role))
        ]
        return (
            self._other_statement(best, shown)
            or (self._rival_in_tag(best, shown) if shown else self._displayed_instead(best))
            or self._other_terms(best, shown)
        )

    def _other_statement(self, best: Amount, shown: list[DisplayedPrice]) -> str:
        """Structured data states another price, and the page does not explain it."""
        others = [amount for amount in self.stated if amount is not best]
        if best.is_stated:
            both = [one for one in others if any(self._is_tag(price) for price in one.displayed)]
            if both and not self._explains(both, best):
                return f"the page shows {len(both) + 1} of the prices in its structured data"
            if others and not shown:
                return f"structured data gives {len(others) + 1} prices and the page shows none of them"
            return ""
        unexplained = [one for one in others if not self._is_explained(one, best)]
        if unexplained:
            return f"structured data says {unexplained[0].value}, the page shows {best.value}"
        return self._outside_range(best)

    def _explains(self, others: list[Amount], best: Amount) -> bool:
        return all(self._is_explained(other, best) for other in others)

    def _is_explained(self, stated: Amount, best: Amount) -> bool:
        """Whether the page displays the stated amount as another price than the current one."""
        roles = {one.role for one in stated.displayed}
        if best.value < stated.value:
            return Role.LIST in roles or (
                Role.REGULAR in roles and not roles & {Role.CURRENT} and best.has_sale_label
            )
        is_net = Role.NET in roles or self.page.includes_tax(best)
        return is_net and best.value <= stated.value * (1 + _MAX_TAX_RATE)

    def _outside_range(self, best: Amount) -> str:
        ranges = [one for one in self.structured if one.role in (Role.RANGE, Role.FROM) and one.amount > 0]
        for one in ranges:
            high = one.offer.high if one.offer else None
            if best.value < one.amount or (high is not None and best.value > high):
                return f"structured data gives a range from {one.amount}, the page shows {best.value}"
        return ""

    def _displayed_instead(self, best: Amount) -> str:
        """The page displays another amount, and not this one."""
        others = [one for one in self.page.current() if one.amount != best.value]
        labelled = [one for one in others if one.is_labelled and not self.page.is_in_list(one)]
        for one in labelled or others[:1]:
            if one.codes and (one.amount < best.value or not self.page.is_prose(one)):
                return f"structured data says {best.value}, the page shows {one.amount}"
        role = next((one.role for one in best.displayed if one.role in _EXCLUDING_ROLES), None)
        if role is not None and not best.has_uncertain_role:
            return f"the page shows {best.value} as {role}"
        if not self.evidence.is_trusted and len({one.source for one in best.witnesses}) < 2:
            return "nothing connects the structured data to this page's product"
        return ""

    def _rival_in_tag(self, best: Amount, shown: list[DisplayedPrice]) -> str:
        """Another current price stands in the same price tag."""
        if best.has_sale_label:
            return ""
        is_listed = any(price.role is Role.LIST for price in best.displayed)
        is_bare = best.is_stated and not all(self.page.has_words(price) for price in shown)
        is_weak = not best.is_stated and all(self.page.has_words(price) for price in shown)
        for one in self.page.current():
            if one.amount == best.value or not one.codes or self.page.is_in_list(one):
                continue
            has_words = self.page.has_words(one)
            if any(one.element is price.element for price in shown) and not (is_bare and has_words):
                return f"the page shows {best.value} and {one.amount} in one place"
            is_near = is_listed or any(abs(one.order - price.order) <= SAME_TAG for price in shown)
            is_plain = not has_words and not self.page.is_prose(one)
            if one.amount < best.value and is_near and (one.is_labelled or is_plain or is_weak):
                return f"the page shows a lower price {one.amount} next to {best.value}"
        return ""

    def _other_terms(self, best: Amount, shown: list[DisplayedPrice]) -> str:
        """The amount is a down payment, a from-price or a bid."""
        for one in self.page.scan.prices:
            is_near = any(abs(one.order - price.order) <= SAME_TAG for price in shown)
            is_down_payment = one.amount > best.value or (one.amount == best.value and not shown)
            if one.role is Role.INSTALMENT and is_down_payment and (is_near or not shown):
                return f"the page shows {best.value} next to instalments of {one.amount}"
            if one.role is Role.FROM and one.amount < best.value and is_near and not best.is_stated:
                return f'the page shows {best.value} next to "from {one.amount}"'
            if one.role is Role.BID and self.page.in_main(one):
                return f"the page shows a bid of {one.amount}"
        return ""

    def _too_close(self, eligible: list[Amount]) -> str:
        best = eligible[0]
        if len(eligible) == 1:
            return ""
        second = eligible[1]
        if best.score - second.score < MARGIN:
            return f"{best.value} ({best.score:.1f}) and {second.value} ({second.score:.1f}) are both likely"
        return ""

    def _why(self, best: Amount) -> str:
        if not best.is_stated:
            return "the price that the page shows"
        if any(one.role in _CURRENT for one in best.displayed):
            return "structured data and page agree"
        return "structured data of this page's product"

    def _agreeing(self, best: Amount) -> list[PriceCandidate]:
        return [
            *best.witnesses,
            *(one for one in self.page.displayed if one.amount == best.value and one.role in _CURRENT),
        ]
