"""What the head of a page says about it: title, canonical link, OpenGraph and product meta tags."""

from __future__ import annotations

from dataclasses import dataclass, field

from pricewatch.parsing.pages.availability import schema_availability
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.prices.currency import currency_code
from pricewatch.parsing.prices.price import ParsedPrice, parse_machine_price, parse_price
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import clean
from pricewatch.vocabulary import Availability


@dataclass(slots=True)
class MetaPrice:
    name: str
    text: str
    price: ParsedPrice
    role: Role


@dataclass(slots=True)
class Head:
    """The first value of every meta tag of interest by its lower-case name, and what they say of a price."""

    values: dict[str, str] = field(default_factory=dict)
    prices: list[MetaPrice] = field(default_factory=list)
    currency: str | None = None
    availability: Availability = Availability.UNKNOWN

    def first(self, *names: str) -> str:
        return next((clean(value) for name in names if (value := self.values.get(name))), "")

    @property
    def is_product(self) -> bool:
        return self.first("og:type").lower().rpartition(":")[2].rpartition(".")[2] in ("product", "item")


_AMOUNTS = {
    "product:price:amount": Role.CURRENT,
    "og:price:amount": Role.CURRENT,
    "og:product:price:amount": Role.CURRENT,
    "product:price": Role.CURRENT,
    "og:price": Role.CURRENT,
    "product:sale_price:amount": Role.CURRENT,
    "og:sale_price:amount": Role.CURRENT,
    "og:price:standard_amount": Role.LIST,
    "product:original_price:amount": Role.LIST,
    "og:original_price:amount": Role.LIST,
}
_CURRENCIES = (
    "product:price:currency", "og:price:currency", "og:product:price:currency", "product:sale_price:currency",
    "og:currency", "product:currency",
)  # fmt: skip
_AVAILABILITIES = ("product:availability", "og:availability", "og:product:availability", "availability")
_KEPT = ("og:", "product:", "twitter:", "availability", "currency")
_SALES = ("product:sale_price:amount", "og:sale_price:amount")


def read_head(metas: list[Element]) -> Head:
    head = Head()
    amounts: list[tuple[str, str]] = []
    for element in metas:
        content = element.get("content")
        name = (
            (element.get("property") or element.get("name") or element.get("itemprop") or "").strip().lower()
        )
        if not content or not name:
            continue
        if name.startswith(_KEPT):
            head.values.setdefault(name, content)
        if name in _AMOUNTS:
            amounts.append((name, content))
    head.currency = currency_code(head.first(*_CURRENCIES))
    head.availability = schema_availability(head.first(*_AVAILABILITIES))
    has_sale = any(name in _SALES for name, _ in amounts)
    for name, text in amounts:
        role = _AMOUNTS[name]
        if has_sale and role is Role.CURRENT and name not in _SALES:
            role = Role.LIST
        head.prices.append(MetaPrice(name, text[:80], parse_machine_price(text, head.currency), role))
    head.prices.extend(_twitter_prices(head))
    return head


def _twitter_prices(head: Head) -> list[MetaPrice]:
    """Twitter cards show two labelled facts, of which a shop's first is often the price."""
    found = []
    for number in ("1", "2"):
        if head.first(f"twitter:label{number}").lower() in (
            "price",
            "preis",
            "prix",
            "precio",
            "prezzo",
            "prijs",
            "cena",
        ):
            text = head.first(f"twitter:data{number}")
            found.append(
                MetaPrice(f"twitter:data{number}", text[:80], parse_price(text, head.currency), Role.CURRENT)
            )
    return found
