"""What on a page contradicts an amount that may be its price; a contradiction is never outweighed."""

from __future__ import annotations

from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.generic_reader.page_amounts import MAX_TAX_RATE, PRICE_ROLES, SAME_TAG, Amount, PageAmounts
from pricewatch.generic_reader.price_exclusions import EXCLUDING_ROLES, PageEvidence, why_no_tag
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.price_surroundings import words_beside
from pricewatch.parsing.prices.price_roles import Role

# A from-price with more words than this is of something else: "up to €50 when you trade in your phone".
_MAX_FROM_WORDS = 3


def contradiction(
    best: Amount, page: PageAmounts, structured: list[PriceCandidate], evidence: PageEvidence
) -> str:
    """What contradicts the amount, or an empty text."""
    return _Contradictions(best, page, structured, evidence).first()


class _Contradictions:
    def __init__(
        self, best: Amount, page: PageAmounts, structured: list[PriceCandidate], evidence: PageEvidence
    ) -> None:
        self.best, self.page, self.structured, self.evidence = best, page, structured, evidence
        self.shown = [
            one
            for one in best.displayed
            if page.in_main(one)
            and not page.is_in_sentence(one)
            and (one.role in PRICE_ROLES or (best.is_stated and not one.has_certain_role))
        ]

    def first(self) -> str:
        return (
            self._other_statement()
            or (self._rival_in_tag() if self.shown else self._displayed_instead())
            or self._other_terms()
        )

    def _other_statement(self) -> str:
        """Structured data states another price, and the page does not explain it."""
        others = [amount for amount in self.page.stated() if amount is not self.best]
        if self.best.is_stated:
            both = [one for one in others if self._is_displayed_as_price(one) and not self._is_explained(one)]
            if both:
                return f"the page shows {len(both) + 1} of the prices in its structured data"
            if others and not self.shown:
                return f"structured data gives {len(others) + 1} prices and the page shows none of them"
            return ""
        for one in others:
            if not self._is_explained(one):
                return f"structured data says {one.value}, the page shows {self.best.value}"
        return self._outside_range()

    def _is_displayed_as_price(self, amount: Amount) -> bool:
        return any(not why_no_tag(one, self.page, self.evidence) for one in amount.displayed)

    def _is_explained(self, stated: Amount) -> bool:
        """Whether the page displays the stated amount as another price than the current one."""
        roles = {one.role for one in stated.displayed}
        if self.best.value < stated.value:
            is_regular = Role.REGULAR in roles and Role.CURRENT not in roles
            return Role.LIST in roles or (is_regular and self.best.has_sale_label)
        is_net = Role.NET in roles or self.page.includes_tax(self.best.displayed)
        return is_net and self.best.value <= stated.value * (1 + MAX_TAX_RATE)

    def _outside_range(self) -> str:
        for one in self.structured:
            if one.role in (Role.RANGE, Role.FROM) and one.amount > 0:
                high = one.offer.high if one.offer else None
                if self.best.value < one.amount or (high is not None and self.best.value > high):
                    return (
                        f"structured data gives a range from {one.amount}, the page shows {self.best.value}"
                    )
        return ""

    def _displayed_instead(self) -> str:
        """The page displays another amount, and not this one."""
        others = [one for one in self.page.current() if one.amount != self.best.value]
        labelled = [one for one in others if one.is_labelled and not self.page.is_in_list(one)]
        for one in labelled or others[:1]:
            # A lower amount contradicts even if it is a part of a sentence.
            if one.codes and (one.amount < self.best.value or not self.page.is_in_sentence(one)):
                return f"structured data says {self.best.value}, the page shows {one.amount}"
        roles = [one.role for one in self.best.displayed if one.role in EXCLUDING_ROLES]
        if roles and not self.best.has_uncertain_role:
            return f"the page shows {self.best.value} as {roles[0]}"
        if not self.evidence.is_trusted and len({one.source for one in self.best.witnesses}) < 2:
            return "nothing connects the structured data to this page's product"
        return ""

    def _rival_in_tag(self) -> str:
        """Another current price stands in the same price tag."""
        best, page = self.best, self.page
        if best.has_sale_label:
            return ""
        is_shown_as_price = best.is_stated and any(one.role is Role.CURRENT for one in self.shown)
        has_no_words = best.is_stated and not all(page.has_words(one) for one in self.shown)
        for one in page.current():
            if one.amount == best.value or not one.codes or page.is_in_list(one):
                continue
            # Of two prices in one tag, a higher one that data does not state is the old one.
            is_old = is_shown_as_price and one.amount > best.value
            is_other = has_no_words and page.has_words(one)
            if self._is_in_same_element(one) and not is_old and not is_other:
                return f"the page shows {best.value} and {one.amount} in one place"
            if not self._is_near(one) or not self._is_plain(one):
                continue
            if one.amount < best.value:
                return f"the page shows a lower price {one.amount} next to {best.value}"
            if self._has_no_name() and not one.is_labelled and not self.page.has_discount(one):
                return f"the page shows {best.value} and {one.amount}, and nothing tells them apart"
        return ""

    def _has_no_name(self) -> bool:
        """Whether neither data nor a class name says that the amount is a price."""
        return not self.best.is_stated and not any(one.is_labelled for one in self.shown)

    def _is_in_same_element(self, price: DisplayedPrice) -> bool:
        return any(price.element is one.element for one in self.shown)

    def _is_near(self, price: DisplayedPrice) -> bool:
        is_listed = any(one.role is Role.LIST for one in self.best.displayed)
        return is_listed or any(abs(price.order - one.order) <= SAME_TAG for one in self.shown)

    def _is_plain(self, price: DisplayedPrice) -> bool:
        """Whether a rival looks no less like the price: labelled, without words, or both with words."""
        if price.is_labelled or not (self.page.has_words(price) or self.page.is_in_sentence(price)):
            return True
        if self.best.is_stated or any(self.page.is_at_usual_place(one) for one in self.shown):
            return False
        return all(self.page.has_words(one) for one in self.shown)

    def _other_terms(self) -> str:
        """The amount is a down payment, a from-price, a bid, or the old price of a range."""
        best = self.best
        for one in self.page.prices:
            is_near = any(abs(one.order - price.order) <= SAME_TAG for price in self.shown)
            is_down_payment = one.amount > best.value or (one.amount == best.value and not self.shown)
            if one.role is Role.INSTALMENT and is_down_payment and (is_near or not self.shown):
                return f"the page shows {best.value} next to instalments of {one.amount}"
            is_from = one.role is Role.FROM and len(words_beside(one).split()) <= _MAX_FROM_WORDS
            if is_from and one.amount < best.value and is_near and not best.is_stated:
                return f'the page shows {best.value} next to "from {one.amount}"'
            if one.role is Role.RANGE and is_near and not best.is_stated:
                return f"the page shows {best.value} next to a range with {one.amount}"
            if one.role is Role.BID and self.page.in_main(one):
                return f"the page shows a bid of {one.amount}"
        return ""
