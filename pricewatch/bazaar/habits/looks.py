"""Habits of showing: what a card or a page says of a price or of stock, and what it leaves out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.look import (
    ABSENT,
    AMBIGUOUS,
    BACKORDER,
    FROM,
    LOGIN,
    PREORDER,
    UNKNOWN_STOCK,
    WITH_NET,
    Look,
)


@dataclass(frozen=True, slots=True)
class LookHabit(Habit):
    """Changes parts of how a listing is shown."""

    changes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def apply(self, look: Look) -> Look:
        """Return how the listing is shown with this habit."""
        return replace(look, **self.changes)  # type: ignore[arg-type]


LOOKS = (
    LookHabit("cards_without_price", "cards show no price", changes={"card_price": ABSENT}),
    LookHabit("cards_without_stock", "cards say nothing of stock", changes={"card_stock": False}),
    LookHabit(
        "cards_net_and_gross",
        'cards show both prices: "€ 126,24 excl. VAT: € 105,20"',
        changes={"card_price": WITH_NET},
    ),
    LookHabit("cards_from_price", 'cards show "from" and the cheapest variant', changes={"card_price": FROM}),
    LookHabit(
        "tax_switch",
        "cards and pages show net beside gross; what a customer pays stays the same",
        changes={"card_price": WITH_NET, "page_price": WITH_NET},
    ),
    LookHabit(
        "logged_out_price",
        'cards and pages say "Log in to see the price"',
        share=0.15,
        changes={"card_price": LOGIN, "page_price": LOGIN},
    ),
    LookHabit(
        "ambiguous_pages",
        "product pages show two prices that disagree",
        share=0.06,
        changes={"page_price": AMBIGUOUS},
    ),
    LookHabit("backorder", "available on backorder", share=0.1, changes={"stock": BACKORDER}),
    LookHabit("preorder", "can be pre-ordered", share=0.05, changes={"stock": PREORDER}),
    LookHabit(
        "unknown_stock",
        "stock is told in words that no table has",
        share=0.05,
        changes={"stock": UNKNOWN_STOCK},
    ),
    LookHabit(
        "prices_in_yen", "prices in yen, which has no decimals", share=0.05, changes={"currency": "JPY"}
    ),
    LookHabit(
        "prices_in_dinar",
        "prices in dinar, which has three decimals",
        share=0.05,
        changes={"currency": "KWD"},
    ),
)
