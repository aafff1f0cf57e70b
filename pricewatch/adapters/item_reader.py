"""Reads the items of custom spiders: an `Offer`, or any item with the fields of one.

Instead of `price_cents`, an item may have `price`: a number, or a text such as "12.50" or "€ 12,50".
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from itemadapter import ItemAdapter

from pricewatch.items import Drop, Offer, SellerInfo
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.pages.availability import schema_availability, text_availability
from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.vocabulary import Availability, DropReason, SellerType

PRICE_FIELDS = ("price", "price_cents")
# The price is one amount, not a page of text.
MAX_PRICE_LENGTH = 200
# Attributes that are nested deeper are stored as text.
MAX_DEPTH = 20
_TEXT_FIELDS = ("product_id", "sku", "gtin", "mpn", "brand", "location", "image")


class _Unusable(ValueError):
    def __init__(self, reason: DropReason, details: str):
        self.drop = Drop(reason, details)


def is_offer(item: ItemAdapter) -> bool:
    """Whether an item is an offer: it has a price field, even an empty one."""
    return any(name in item for name in PRICE_FIELDS) or isinstance(item.item, Offer)


def read_offer(item: ItemAdapter, source: str, now: datetime) -> tuple[Offer, Drop | None]:
    """The offer of an item, and the reason to drop it, if there is one."""
    offer = Offer(
        url="",
        title="",
        price_cents=0,
        currency="",
        availability=Availability.UNKNOWN,
        source=source,
        observed_at=now,
        adapter_version="",
    )
    try:
        offer.url = str(item.get("url") or "")
        _fill(offer, item)
    except _Unusable as error:
        return offer, error.drop
    except (ValueError, ArithmeticError):
        # Python converts no number with thousands of digits.
        return offer, Drop(DropReason.MISSING_REQUIRED_FIELD, "a number is too large")
    return offer, None


def _fill(offer: Offer, item: ItemAdapter) -> None:
    offer.title = _text(item, "title") or ""
    for name in _TEXT_FIELDS:
        setattr(offer, name, _text(item, name))
    missing = [name for name in ("url", "title") if not getattr(offer, name)]
    if missing:
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, ", ".join(missing))
    offer.fetch_url = offer.url
    try:
        offer.url = canonical_url(offer.url)
    except InvalidUrl as error:
        raise _Unusable(DropReason.INVALID_URL, str(error)) from None
    offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    offer.price_cents, offer.currency = _price(item)
    offer.price_max_cents = _integer(item, "price_max_cents")
    offer.shipping_cents = _integer(item, "shipping_cents")
    offer.availability = _availability(item.get("availability"))
    tax_included = item.get("tax_included")
    offer.tax_included = tax_included if isinstance(tax_included, bool) else None
    offer.seller = _seller(item.get("seller"))
    offer.area = _number(item.get("area"))
    attributes = item.get("attributes")
    offer.attributes = _json_safe(attributes) if isinstance(attributes, dict) else {}
    offer.observed_at = _time(item.get("observed_at")) or offer.observed_at
    offer.sold_at = _time(item.get("sold_at"))


def _price(item: ItemAdapter) -> tuple[int, str]:
    currency = (_text(item, "currency") or "").upper()
    cents = _integer(item, "price_cents")
    if cents is not None:
        return cents, currency
    price = item.get("price")
    if price is None or price == "":
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, "price")
    if isinstance(price, str) and len(price) > MAX_PRICE_LENGTH:
        raise _Unusable(DropReason.INVALID_PRICE, f"{len(price)} characters; the limit is {MAX_PRICE_LENGTH}")
    found = parse_machine_price(str(price) if isinstance(price, Decimal) else price, currency or None)
    if found.refusal is PriceRefusal.ZERO:
        return 0, currency or found.currency or ""
    if found.refusal is not None:
        raise _Unusable(DropReason.INVALID_PRICE, f"{str(price)[:80]!r}: {found.refusal}")
    if found.currency is None:
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, "currency")
    if (parsed_cents := found.cents()) is None:
        raise _Unusable(DropReason.INVALID_PRICE, f"{str(price)[:80]!r} is not an amount of {found.currency}")
    return parsed_cents, found.currency


def _text(item: ItemAdapter, name: str) -> str | None:
    value = item.get(name)
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, (str, int, float, Decimal)):
        details = f"{name} is a {type(value).__name__}, not text"
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, details)
    return str(value).strip() or None


def _integer(item: ItemAdapter, name: str) -> int | None:
    """An integer number of minor units, given as a number or as digits."""
    value = item.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:18])
    raise _Unusable(DropReason.INVALID_PRICE, f"{name} is {str(value)[:80]!r}, not an integer")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def _json_safe(value: Any, depth: int = 0) -> Any:
    """The value as JSON types; objects of any other type become text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return {str(key): _json_safe(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and depth < MAX_DEPTH:
        return [_json_safe(one, depth + 1) for one in value]
    return str(value)


def _availability(value: object) -> Availability:
    """The availability of an item; LISTED if the field is empty."""
    if value is None or value == "":
        return Availability.LISTED
    text = str(value).strip()
    if text.upper() in Availability.__members__:
        return Availability[text.upper()]
    found = schema_availability(text)
    return found if found is not Availability.UNKNOWN else text_availability(text[:1000])


def _seller(value: object) -> SellerInfo | None:
    if isinstance(value, SellerInfo):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        name, kind = value.get("name"), str(value.get("type") or "").lower()
        key = value.get("id") or name
        known = SellerType(kind) if kind in list(SellerType) else None
        return SellerInfo(str(key), str(name) if name else None, known) if key else None
    return SellerInfo(value.strip(), value.strip()) if isinstance(value, str) and value.strip() else None


def _time(value: Any) -> datetime | None:
    """A datetime; UTC if it has no time zone."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
