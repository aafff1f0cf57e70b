"""Reads the items of spiders that are not ours: an `Offer`, or any item with the fields of one.

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

PRICES = ("price", "price_cents")
# Attributes that lie deeper are kept as text.
DEEPEST = 20
_TEXTS = ("product_id", "sku", "gtin", "mpn", "brand", "location", "image")


class _Unusable(ValueError):
    def __init__(self, reason: DropReason, details: str):
        self.drop = Drop(reason, details)


def is_offer(item: ItemAdapter) -> bool:
    """Whether an item is meant to be stored: it has a price, even if an empty one."""
    return any(name in item for name in PRICES) or isinstance(item.item, Offer)


def read_offer(item: ItemAdapter, source: str, now: datetime) -> tuple[Offer, Drop | None]:
    """The offer that an item holds, and why it cannot be stored if so."""
    offer = Offer(
        url=str(item.get("url") or ""),
        title="",
        price_cents=0,
        currency="",
        availability=Availability.UNKNOWN,
        source=source,
        observed_at=now,
        adapter_version="",
    )
    try:
        _fill(offer, item)
    except _Unusable as error:
        return offer, error.drop
    return offer, None


def _fill(offer: Offer, item: ItemAdapter) -> None:
    offer.title = _text(item, "title") or ""
    for name in _TEXTS:
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
    offer.price_max_cents = _whole(item, "price_max_cents")
    offer.shipping_cents = _whole(item, "shipping_cents")
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
    cents = _whole(item, "price_cents")
    if cents is not None:
        return cents, currency
    given = item.get("price")
    if given is None or given == "":
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, "price")
    found = parse_machine_price(str(given) if isinstance(given, Decimal) else given, currency or None)
    if found.refusal is PriceRefusal.ZERO:
        return 0, currency or found.currency or ""
    if found.refusal is not None:
        raise _Unusable(DropReason.INVALID_PRICE, f"{str(given)[:80]!r}: {found.refusal}")
    if found.currency is None:
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, "currency")
    if (read := found.cents()) is None:
        raise _Unusable(DropReason.INVALID_PRICE, f"{str(given)[:80]!r} is not an amount of {found.currency}")
    return read, found.currency


def _text(item: ItemAdapter, name: str) -> str | None:
    value = item.get(name)
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, (str, int, float, Decimal)):
        details = f"{name} is a {type(value).__name__}, not text"
        raise _Unusable(DropReason.MISSING_REQUIRED_FIELD, details)
    return str(value).strip() or None


def _whole(item: ItemAdapter, name: str) -> int | None:
    """A whole number of minor units, as a number or as digits."""
    value = item.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:18])
    raise _Unusable(DropReason.INVALID_PRICE, f"{name} is {str(value)[:80]!r}, not a whole number")


def _number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float, Decimal)):
        return None
    try:
        number = float(given)
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def _json_safe(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it: what is neither text nor a number, nor made of such, becomes text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict) and depth < DEEPEST:
        return {str(key): _json_safe(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and depth < DEEPEST:
        return [_json_safe(one, depth + 1) for one in value]
    return str(value)


def _availability(given: object) -> Availability:
    """Without a word about stock, the listing is just listed, as a card without one."""
    if given is None or given == "":
        return Availability.LISTED
    text = str(given).strip()
    if text.upper() in Availability.__members__:
        return Availability[text.upper()]
    found = schema_availability(text)
    return found if found is not Availability.UNKNOWN else text_availability(text[:1000])


def _seller(given: object) -> SellerInfo | None:
    if isinstance(given, SellerInfo):
        return given
    if is_dataclass(given) and not isinstance(given, type):
        given = {field.name: getattr(given, field.name) for field in fields(given)}
    if isinstance(given, dict):
        name, kind = given.get("name"), str(given.get("type") or "").lower()
        key = given.get("id") or name
        known = SellerType(kind) if kind in list(SellerType) else None
        return SellerInfo(str(key), str(name) if name else None, known) if key else None
    return SellerInfo(given.strip(), given.strip()) if isinstance(given, str) and given.strip() else None


def _time(given: Any) -> datetime | None:
    """A point in time; without a time zone it is UTC."""
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            return None
    if not isinstance(given, datetime):
        return None
    return given if given.tzinfo else given.replace(tzinfo=UTC)
