"""Habits of product pages that make them hard to read for a reader that does not know the site."""

from pricewatch.bazaar.habits.presentation_habits import PresentationHabit
from pricewatch.bazaar.presentation import ABSENT, STALE

PAGES = (
    PresentationHabit(
        "hashed_names", "the classes and ids of product pages are hashes", changes={"hashed_names": True}
    ),
    PresentationHabit(
        "no_structured_data",
        "product pages have no structured data",
        changes={"structured_data": ABSENT},
    ),
    PresentationHabit(
        "stale_structured_data",
        "structured data has the crossed-out price, the page shows a lower one",
        changes={"structured_data": STALE},
    ),
    PresentationHabit(
        "amounts_beside",
        "a levy, a deposit, a member price and other amounts stand beside the price",
        changes={"amounts_beside": True},
    ),
    PresentationHabit(
        "price_by_script",
        "a script adds price, stock and button to product pages",
        changes={"price_by_script": True},
    ),
    PresentationHabit(
        "advert",
        "product pages are classified adverts: a button contacts the seller, and there is no cart",
        changes={"advert": True},
    ),
)
