"""Habits of presentation: how cards and pages show price and stock, and what they leave out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.presentation import (
    ABSENT,
    AMBIGUOUS,
    BACKORDER,
    FROM,
    LOGIN,
    PREORDER,
    UNKNOWN_STOCK,
    WITH_NET,
    Presentation,
)


@dataclass(frozen=True, slots=True)
class PresentationHabit(Habit):
    """A change to the presentation of a listing."""

    changes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def apply(self, presentation: Presentation) -> Presentation:
        """Return the presentation with this habit."""
        return replace(presentation, **self.changes)  # type: ignore[arg-type]


PRESENTATIONS = (
    PresentationHabit("cards_without_price", "cards show no price", changes={"card_price": ABSENT}),
    PresentationHabit("cards_without_stock", "cards do not show the stock", changes={"card_stock": False}),
    PresentationHabit(
        "cards_net_and_gross",
        'cards show both prices: "€ 126,24 excl. VAT: € 105,20"',
        changes={"card_price": WITH_NET},
    ),
    PresentationHabit(
        "cards_from_price", 'cards show "from" and the cheapest variant', changes={"card_price": FROM}
    ),
    PresentationHabit(
        "tax_switch",
        "cards and pages show net and gross prices; what a customer pays stays the same",
        changes={"card_price": WITH_NET, "page_price": WITH_NET},
    ),
    PresentationHabit(
        "logged_out_price",
        'cards and pages say "Log in to see the price"',
        share=0.15,
        changes={"card_price": LOGIN, "page_price": LOGIN},
    ),
    PresentationHabit(
        "ambiguous_pages",
        "product pages show two prices that disagree",
        share=0.06,
        changes={"page_price": AMBIGUOUS},
    ),
    PresentationHabit("backorder", "available on backorder", share=0.1, changes={"stock": BACKORDER}),
    PresentationHabit("preorder", "can be pre-ordered", share=0.05, changes={"stock": PREORDER}),
    PresentationHabit(
        "unknown_stock",
        "stock is shown in words that no parser knows",
        share=0.05,
        changes={"stock": UNKNOWN_STOCK},
    ),
    PresentationHabit(
        "prices_in_yen", "prices in yen, which has no decimals", share=0.05, changes={"currency": "JPY"}
    ),
    PresentationHabit(
        "prices_in_dinar",
        "prices in dinar, which has three decimals",
        share=0.05,
        changes={"currency": "KWD"},
    ),
)
