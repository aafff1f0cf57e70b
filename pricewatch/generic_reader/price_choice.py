"""Choose the price that one customer pays now for one unit, or report why it is ambiguous.

The amounts of a page are scored by their features. The best one is accepted if it beats the second by a
margin and nothing on the page contradicts it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pricewatch.generic_reader.candidates import PriceCandidate
from pricewatch.generic_reader.page_amounts import PRICE_ROLES, Amount, PageAmounts
from pricewatch.generic_reader.price_contradictions import contradiction
from pricewatch.generic_reader.price_exclusions import EXCLUDING_ROLES, PageEvidence, why_excluded
from pricewatch.generic_reader.price_features import add_features
from pricewatch.generic_reader.price_weights import MARGIN
from pricewatch.parsing.prices.price_roles import Role


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


def choose_price(page: PageAmounts, structured: list[PriceCandidate], evidence: PageEvidence) -> Choice:
    for amount in page.amounts:
        amount.excluded = why_excluded(amount, page, evidence)
    if not page.stated() and any(one.role is Role.CURRENT and one.amount == 0 for one in structured):
        return _zero(page)
    possible = [one for one in page.amounts if not one.excluded]
    # A single amount needs no score.
    if len(possible) > 1:
        add_features(page, possible)
        possible.sort(key=lambda one: -one.score)
    if not possible:
        return _nothing_possible(page, structured, evidence)
    best = possible[0]
    if not best.is_stated and not evidence.is_product_page:
        return Choice(PriceVerdict.NONE, "there are prices, but this is not a product page")
    problem = contradiction(best, page, structured, evidence) or _too_close(possible)
    if problem:
        return Choice(PriceVerdict.AMBIGUOUS, problem)
    displayed = [one for one in page.displayed if one.amount == best.value and one.role in PRICE_ROLES]
    return Choice(PriceVerdict.ACCEPTED, _why(best), best, [*best.witnesses, *displayed])


def _zero(page: PageAmounts) -> Choice:
    labelled = [one for one in page.current() if one.is_labelled]
    if labelled:
        why = f"structured data says zero, the page shows {labelled[0].amount}"
        return Choice(PriceVerdict.AMBIGUOUS, why)
    return Choice(PriceVerdict.ZERO, "structured data says zero")


def _nothing_possible(page: PageAmounts, structured: list[PriceCandidate], evidence: PageEvidence) -> Choice:
    for amount in page.stated():
        role = next((one.role for one in amount.displayed if one.role in EXCLUDING_ROLES), None)
        if role is not None:
            return Choice(PriceVerdict.AMBIGUOUS, f"the page shows {amount.value} as {role}")
    if stated := page.stated():
        why = f"structured data says {stated[0].value}, which the page does not show as the price"
        return Choice(PriceVerdict.AMBIGUOUS, why)
    ranges = [one.amount for one in structured if one.role in (Role.RANGE, Role.FROM) and one.amount > 0]
    if ranges:
        return Choice(PriceVerdict.AMBIGUOUS, f"structured data gives a range from {min(ranges)}")
    if evidence.is_product_page and page.displays_zero:
        return Choice(PriceVerdict.ZERO, "the page shows zero")
    return Choice(PriceVerdict.NONE, "no price found")


def _too_close(possible: list[Amount]) -> str:
    best = possible[0]
    if len(possible) == 1 or best.score - possible[1].score >= MARGIN:
        return ""
    second = possible[1]
    return f"{best.value} (score {best.score:.1f}) and {second.value} ({second.score:.1f}) are both likely"


def _why(best: Amount) -> str:
    if not best.is_stated:
        return "the price that the page shows"
    if any(one.role in PRICE_ROLES for one in best.displayed):
        return "structured data and page agree"
    return "structured data of this page's product"
