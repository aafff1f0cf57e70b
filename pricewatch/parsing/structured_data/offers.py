"""The offers of one product in structured data, with the role of each price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from pricewatch.parsing.pages.availability import schema_availability, text_availability
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.prices.currency import currency_code
from pricewatch.parsing.prices.price import ParsedPrice, parse_machine_price, parse_price
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.block_limits import BlockTooLarge
from pricewatch.parsing.structured_data.microdata import ELEMENT, VisibleText
from pricewatch.parsing.text import clean, word_set
from pricewatch.vocabulary import Availability

_LIST_PRICES = (
    "listprice",
    "strikethroughprice",
    "srp",
    "msrp",
    "suggestedretail",
    "invoiceprice",
    "minimumadvertised",
    "regularprice",
)
_USED_CONDITIONS = ("used", "refurbished", "damaged")
_PERIODS = word_set("mon month months monthly ann year years yearly wee week weeks weekly day days hur hour")
_MAX_OFFERS = 400


@dataclass(slots=True)
class OfferData:
    """One price in structured data; `high` is set if the price is the low end of a range."""

    path: str
    text: str
    price: ParsedPrice
    role: Role = Role.CURRENT
    high: Decimal | None = None
    availability: Availability = Availability.UNKNOWN
    url: str = ""
    sku: str = ""
    seller: str = ""
    is_used: bool = False
    shipping: ParsedPrice | None = None
    tax_included: bool | None = None
    element: Element | None = field(default=None, repr=False)


def read_offers(product: dict[str, Any], path: str) -> list[OfferData]:
    """All offers of a product and its variants, including those with an availability but no price."""
    found: list[OfferData] = []
    for where, node, inherited in _offer_nodes(product, path, {}):
        found.extend(_offer(where, node, inherited))
        if len(found) >= _MAX_OFFERS:
            break
    return found


def _offer_nodes(
    node: dict[str, Any], path: str, inherited: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    if "offers" not in node and ("price" in node or "lowPrice" in node):
        yield path, node, inherited
        return
    for key in ("offers", "Offers", "offer"):
        for index, offer in enumerate(_rows(node.get(key))):
            where = f"{path}.{key}[{index}]" if isinstance(node.get(key), list) else f"{path}.{key}"
            inner = offer.get("offers")
            # An aggregate's low price is one of its listed offers.
            if inner and any(_has_price(row) for row in _rows(inner)):
                yield from _offer_nodes(offer, where, _inheritable(offer, inherited))
            else:
                yield where, offer, inherited
    for key in ("hasVariant", "model"):
        for index, variant in enumerate(_rows(node.get(key))):
            own = {"sku": variant.get("sku"), "url": variant.get("url")}
            yield from _offer_nodes(
                variant, f"{path}.{key}[{index}]", inherited | {k: v for k, v in own.items() if v}
            )


def _offer(path: str, node: dict[str, Any], inherited: dict[str, Any]) -> Iterator[OfferData]:
    merged = inherited | {key: value for key, value in node.items() if value not in ("", None)}
    currency_text = merged.get("priceCurrency") or merged.get("currency")
    currency = currency_code(_text(currency_text))
    base = OfferData(
        path=path,
        text="",
        price=ParsedPrice(),
        availability=_availability(merged.get("availability")),
        url=_text(merged.get("url")),
        sku=_text(merged.get("sku")),
        seller=_name(merged.get("seller") or merged.get("offeredBy")),
        is_used=any(word in _text(merged.get("itemCondition")).lower() for word in _USED_CONDITIONS),
        shipping=_shipping(merged.get("shippingDetails")),
        element=node.get(ELEMENT),
    )
    prices = list(_prices(merged, currency))
    if not prices:
        yield base
    for suffix, text, price, role, high, tax in prices:
        where = f"{path}.{suffix}"
        yield replace(base, path=where, text=text, price=price, role=role, high=high, tax_included=tax)


_Price = tuple[str, str, ParsedPrice, Role, Decimal | None, bool | None]


def _prices(node: dict[str, Any], currency: str | None) -> Iterator[_Price]:
    specifications = [row for row in _rows(node.get("priceSpecification")) if row]
    tax = next(
        (flag for row in specifications if (flag := _flag(row.get("valueAddedTaxIncluded"))) is not None),
        None,
    )
    direct = list(_direct_prices(node, currency, tax))
    recurring = _recurring(specifications)
    for suffix, text, price, role, high, taxed in direct:
        is_recurring = role is Role.CURRENT and price.amount in recurring
        yield suffix, text, price, Role.INSTALMENT if is_recurring else role, high, taxed
    for index, row in enumerate(specifications):
        role = _specification_role(row)
        if role is Role.CURRENT and direct:
            continue
        code = currency_code(_text(row.get("priceCurrency"))) or currency
        for text, price in _values(row.get("price"), code):
            yield (
                f"priceSpecification[{index}].price",
                text,
                price,
                role,
                None,
                _flag(row.get("valueAddedTaxIncluded")),
            )


def _recurring(specifications: list[dict[str, Any]]) -> set[Decimal | None]:
    """The amounts of recurring payments; a plain price with such an amount is also recurring."""
    rows = [row for row in specifications if _specification_role(row) is Role.INSTALMENT]
    return {price.amount for row in rows for _, price in _values(row.get("price"), None)} - {None}


def _direct_prices(node: dict[str, Any], currency: str | None, tax: bool | None) -> Iterator[_Price]:
    prices = list(_values(node.get("price"), currency))
    role = Role.VARIANT if _is_for_several(node) else Role.CURRENT
    for text, price in prices:
        yield "price", text, price, role, None, tax
    if prices:
        return
    highs = [price.amount for _, price in _values(node.get("highPrice"), currency) if price.amount]
    is_single = _text(node.get("offerCount")) == "1"
    for text, price in _values(node.get("lowPrice"), currency):
        is_range = bool(highs) and price.amount is not None and highs[0] > price.amount
        role = Role.RANGE if is_range else Role.CURRENT if highs or is_single else Role.FROM
        yield "lowPrice", text, price, role, highs[0] if is_range else None, tax


def _values(value: Any, currency: str | None) -> Iterator[tuple[str, ParsedPrice]]:
    values = value if isinstance(value, list) else [value]
    if len(values) > _MAX_OFFERS:
        raise BlockTooLarge(f"an offer has more than {_MAX_OFFERS} prices")
    for one in values:
        raw = one.get("@value", one.get("value")) if isinstance(one, dict) else one
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            continue
        hints = (currency,) if currency else ()
        parsed = (
            parse_price(raw, currency, hints)
            if isinstance(raw, VisibleText)
            else parse_machine_price(raw, currency)
        )
        yield str(raw)[:80], parsed


def _specification_role(row: dict[str, Any]) -> Role:
    kind = _text(row.get("priceType") or row.get("name")).lower().replace(" ", "").replace("_", "")
    if any(word in kind for word in _LIST_PRICES):
        return Role.LIST
    if "charge" in _text(row.get("@type")).lower():
        return Role.SHIPPING
    if row.get("validForMemberTier") or row.get("membershipPointsEarned"):
        return Role.EXTRA
    if _is_for_several(row):
        return Role.VARIANT
    per = _text(row.get("unitCode") or row.get("unitText")).lower()
    if row.get("billingDuration") or row.get("billingIncrement") or "installment" in kind or per in _PERIODS:
        return Role.INSTALMENT
    reference = row.get("referenceQuantity")
    if isinstance(reference, dict) and not reference.get("valueReference"):
        unit = _text(reference.get("unitCode") or reference.get("unitText")).upper()
        return Role.CURRENT if unit in ("", "C62", "EA", "H87", "PCE") else Role.PER_UNIT
    return Role.CURRENT


def _is_for_several(row: dict[str, Any]) -> bool:
    """Whether the price requires a quantity of more than one."""
    quantity = row.get("eligibleQuantity")
    raw = quantity.get("minValue", quantity.get("value")) if isinstance(quantity, dict) else quantity
    return (parse_machine_price(raw, None).amount or 0) > 1


def _shipping(value: Any) -> ParsedPrice | None:
    rates = [row.get("shippingRate") for row in _rows(value)]
    prices = [
        parse_machine_price(rate.get("value"), currency_code(_text(rate.get("currency"))))
        for rate in rates
        if isinstance(rate, dict)
    ]
    # Several rates are for several destinations or speeds; the applicable one is not known.
    return prices[0] if len(prices) == 1 else None


def _availability(value: Any) -> Availability:
    state = schema_availability(value)
    if state is Availability.UNKNOWN and isinstance(value, VisibleText):
        return text_availability(value)
    return state


def _inheritable(offer: dict[str, Any], inherited: dict[str, Any]) -> dict[str, Any]:
    keys = ("priceCurrency", "availability", "seller", "itemCondition")
    return inherited | {key: offer[key] for key in keys if offer.get(key)}


def _has_price(row: dict[str, Any]) -> bool:
    return any(row.get(key) for key in ("price", "lowPrice", "priceSpecification"))


def _rows(value: Any) -> list[dict[str, Any]]:
    rows = value if isinstance(value, list) else [value]
    # Some shops nest the list of offers in another one.
    flat = [one for row in rows for one in (row if isinstance(row, list) else [row])]
    return [row for row in flat if isinstance(row, dict)]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    if isinstance(value, dict):
        return _text(value.get("@id") or value.get("name") or value.get("@value"))
    return clean(str(value)) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _name(value: Any) -> str:
    if isinstance(value, list):
        return _name(value[0]) if value else ""
    return _text(value.get("name") or value.get("@id")) if isinstance(value, dict) else _text(value)


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(str(value).strip().lower())
