"""How the card and page of a listing present its price and stock, independent of their values."""

from dataclasses import dataclass

# How a card or a page shows the price.
PLAIN, WITH_NET, FROM, LOGIN, AMBIGUOUS, ABSENT = "plain", "with_net", "from", "login", "ambiguous", "absent"
# Presentations from which the price can be read without doubt.
READABLE = (PLAIN, WITH_NET)
# What the stock line of a listing on sale says.
IN_STOCK, BACKORDER, PREORDER, UNKNOWN_STOCK = "in", "backorder", "preorder", "unknown"
# What structured data says of the price of a page; ABSENT: there is no structured data.
CURRENT, STALE = "current", "stale"
VAT_PERCENT = 20


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a listing is shown at one point in time."""

    card_price: str = PLAIN
    page_price: str = PLAIN
    # Whether the card shows the stock.
    card_stock: bool = True
    stock: str = IN_STOCK
    # Overrides the currency of the category; the amount in minor units stays the same.
    currency: str | None = None
    structured_data: str = CURRENT
    # Whether the classes and ids of the page are hashes.
    hashed_names: bool = False
    # Whether other amounts stand beside the price.
    amounts_beside: bool = False
    # Whether a script adds price, stock and button to the page.
    price_by_script: bool = False
    # Whether the page is a classified advert: its seller is contacted, and there is no cart.
    advert: bool = False


DEFAULT = Presentation()


def net_price(price: int) -> int:
    """Return the price before tax."""
    return round(price * 100 / (100 + VAT_PERCENT))


def from_price(price: int) -> int:
    """Return the price of the cheapest variant, for cards that say "from"."""
    return max(1, price * 4 // 5)


def conflicting_price(price: int) -> int:
    """Return the second price of a page that shows two different ones."""
    return max(1, price * 93 // 100)
