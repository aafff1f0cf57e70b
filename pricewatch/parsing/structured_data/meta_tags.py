"""OpenGraph, product and Twitter meta tags of a page."""

from __future__ import annotations

from dataclasses import dataclass, field

from pricewatch.parsing.pages.availability import schema_availability
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.prices.currency import currency_code
from pricewatch.parsing.prices.price import ParsedPrice, parse_machine_price, parse_price
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.block_limits import BlockTooLarge
from pricewatch.parsing.text import clean
from pricewatch.vocabulary import Availability


@dataclass(slots=True)
class MetaPrice:
    name: str
    text: str
    price: ParsedPrice
    role: Role


@dataclass(slots=True)
class MetaTags:
    """The first value of each relevant meta tag by its lower-case name, and the prices among them."""

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
_PREFIXES = ("og:", "product:", "twitter:", "availability", "currency")
_PRICE_LABELS = ("price", "preis", "prix", "precio", "prezzo", "prijs", "cena")
_SALE_PRICES = ("product:sale_price:amount", "og:sale_price:amount")
_MAX_AMOUNTS = 100


def read_meta_tags(metas: list[Element]) -> MetaTags:
    """Raises BlockTooLarge."""
    meta_tags = MetaTags()
    amounts: list[tuple[str, str]] = []
    for element in metas:
        content = element.get("content")
        name = (
            (element.get("property") or element.get("name") or element.get("itemprop") or "").strip().lower()
        )
        if not content or not name:
            continue
        if name.startswith(_PREFIXES):
            meta_tags.values.setdefault(name, content)
        if name in _AMOUNTS:
            amounts.append((name, content))
    if len(amounts) > _MAX_AMOUNTS:
        raise BlockTooLarge(f"the page has more than {_MAX_AMOUNTS} meta tags with a price")
    meta_tags.currency = currency_code(meta_tags.first(*_CURRENCIES))
    meta_tags.availability = schema_availability(meta_tags.first(*_AVAILABILITIES))
    has_sale = any(name in _SALE_PRICES for name, _ in amounts)
    for name, text in amounts:
        role = _AMOUNTS[name]
        if has_sale and role is Role.CURRENT and name not in _SALE_PRICES:
            role = Role.LIST
        price = parse_machine_price(text, meta_tags.currency)
        meta_tags.prices.append(MetaPrice(name, text[:80], price, role))
    meta_tags.prices.extend(_twitter_prices(meta_tags))
    return meta_tags


def _twitter_prices(meta_tags: MetaTags) -> list[MetaPrice]:
    """Prices of Twitter cards, which have two labelled values."""
    found = []
    for number in ("1", "2"):
        if meta_tags.first(f"twitter:label{number}").lower() in _PRICE_LABELS:
            text = meta_tags.first(f"twitter:data{number}")
            price = parse_price(text, meta_tags.currency)
            found.append(MetaPrice(f"twitter:data{number}", text[:80], price, Role.CURRENT))
    return found
