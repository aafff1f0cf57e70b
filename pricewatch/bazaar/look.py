"""How a listing's card and page show what is true about it; what is true stays the same."""

from dataclasses import dataclass

# How a price stands on a card or a page.
PLAIN, WITH_NET, FROM, LOGIN, AMBIGUOUS, ABSENT = "plain", "with_net", "from", "login", "ambiguous", "absent"
# In these two ways, a reader can know what one customer pays.
READABLE = (PLAIN, WITH_NET)
# What the stock line of a listing that is on sale says.
IN_STOCK, BACKORDER, PREORDER, UNKNOWN_STOCK = "in", "backorder", "preorder", "unknown"
VAT_PERCENT = 20


@dataclass(frozen=True, slots=True)
class Look:
    """The way one listing is shown at an instant."""

    card_price: str = PLAIN
    page_price: str = PLAIN
    # Whether the card says anything of stock.
    card_stock: bool = True
    stock: str = IN_STOCK
    # Another currency than its category's; the amount in minor units stays.
    currency: str | None = None


USUAL = Look()


def net(price: int) -> int:
    """The price before tax."""
    return round(price * 100 / (100 + VAT_PERCENT))


def lowest(price: int) -> int:
    """What the cheapest variant costs, where a card says "from"."""
    return max(1, price * 4 // 5)


def rival(price: int) -> int:
    """The other price on a page that contradicts itself."""
    return max(1, price * 93 // 100)
