"""The filter by which listings are searched, in the admin pages, the public API and exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.rules.market_membership import ANY_PRICE, PriceRange
from pricewatch.store.views.query_values import ANY_NUMBER, NumberRange, QueryValues
from pricewatch.vocabulary import Availability, SellerType

ATTRIBUTE_PREFIX = "attr."
MAX_ATTRIBUTES = 20
STATES = {"on": True, "off": False}
STOCK = [word for word in Availability if word is not Availability.UNKNOWN]
# Their values are not the parameters of one condition each.
_COMPOUND = ("prices", "unit_prices", "area", "rooms", "attributes", "price_age_hours", "max_price_age_hours")


@dataclass(frozen=True, slots=True)
class AttributeCondition:
    """A condition on an attribute by its name: a word that it equals, a range of numbers, or both."""

    name: str
    value: str | None = None
    numbers: NumberRange = ANY_NUMBER


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """Conditions on listings; a listing must meet all that are set."""

    # Words of the title, brand, place, seller and attributes.
    title_query: str | None = None
    without: str | None = None
    source_id: str | None = None
    market_id: str | None = None
    active: bool | None = None
    availability: str | None = None
    currency: str | None = None
    # In one currency; listings in other currencies do not match.
    prices: PriceRange = ANY_PRICE
    # Per square metre.
    unit_prices: PriceRange = ANY_PRICE
    area: NumberRange = ANY_NUMBER
    rooms: NumberRange = ANY_NUMBER
    # Several places are separated by commas.
    place: str | None = None
    seller_type: str | None = None
    attributes: tuple[AttributeCondition, ...] = ()
    price_read_before: datetime | None = None
    price_read_since: datetime | None = None
    before_id: int | None = None
    above_id: int | None = None
    # The ages from which the two times above were computed.
    price_age_hours: float | None = None
    max_price_age_hours: float | None = None

    @classmethod
    def from_query(cls, parameters: Mapping[str, str], now: datetime) -> ListingFilter:
        """Read the parameters of a page or of the API; others are ignored, and bad values raise UserError."""
        values = QueryValues(parameters)
        state = values.choice(STATES, "state")
        price_age, max_price_age = values.hours("price_age"), values.hours("max_price_age_hours")
        return cls(
            title_query=values.text("q"),
            without=values.text("without"),
            source_id=values.text("source", "source_id"),
            market_id=values.text("market", "market_id"),
            active=None if state is None else STATES[state],
            availability=values.choice(STOCK, "stock", "availability"),
            currency=values.currency(),
            prices=_price_range(
                values.price("lowest") or values.minor_price("min_price_cents"),
                values.price("highest") or values.minor_price("max_price_cents"),
            ),
            unit_prices=_price_range(values.price("unit_lowest"), values.price("unit_highest")),
            area=values.numbers("area_min", "area_max"),
            rooms=values.numbers("rooms_min", "rooms_max"),
            place=values.text("place"),
            seller_type=values.choice(SellerType, "seller"),
            attributes=_attributes(values),
            price_read_before=now - timedelta(hours=price_age) if price_age else None,
            price_read_since=now - timedelta(hours=max_price_age) if max_price_age else None,
            price_age_hours=price_age,
            max_price_age_hours=max_price_age,
        )

    def to_query(self) -> dict[str, str]:
        """Return the parameters from which `from_query` makes this filter; only those that are set.

        A position in the list (`before_id`, `above_id`) is not part of it.
        """
        unit_currency = self.unit_prices.currency
        query = {
            "q": self.title_query,
            "without": self.without,
            "source": self.source_id,
            "market": self.market_id,
            "state": None if self.active is None else "on" if self.active else "off",
            "lowest": _amount(self.prices.lowest),
            "highest": _amount(self.prices.highest),
            "currency": self.currency or self.prices.currency or unit_currency,
            "stock": self.availability,
            "price_age": _number(self.price_age_hours),
            "max_price_age_hours": _number(self.max_price_age_hours),
            "unit_lowest": _amount(self.unit_prices.lowest),
            "unit_highest": _amount(self.unit_prices.highest),
            "area_min": _number(self.area.lowest),
            "area_max": _number(self.area.highest),
            "rooms_min": _number(self.rooms.lowest),
            "rooms_max": _number(self.rooms.highest),
            "place": self.place,
            "seller": self.seller_type,
        }
        for one in self.attributes:
            name = f"{ATTRIBUTE_PREFIX}{one.name}"
            query[name] = one.value
            query[f"{name}.min"] = _number(one.numbers.lowest)
            query[f"{name}.max"] = _number(one.numbers.highest)
        return {name: str(value) for name, value in query.items() if value is not None}

    @property
    def is_indexed(self) -> bool:
        """Whether indexes answer all conditions besides the search for words."""
        unindexed = (self.without if self.title_query is None else None, self.availability, self.currency)
        ranges = (self.prices, self.unit_prices, self.area, self.rooms)
        return (
            all(value is None for value in (*unindexed, self.place, self.seller_type, self.price_read_since))
            and not any(one.is_set for one in ranges)
            and not self.attributes
        )

    def parameters(self) -> dict[str, Any]:
        """Return the conditions that are set, by the name of their SQL parameter."""
        names = (field.name for field in fields(self) if field.name not in _COMPOUND)
        parameters: dict[str, Any] = {name: getattr(self, name) for name in names}
        parameters["currency"] = self.currency or self.prices.currency or self.unit_prices.currency
        for name, prices in (("", self.prices), ("unit_", self.unit_prices)):
            parameters[f"{name}lowest"] = prices.lowest.minor if prices.lowest else None
            parameters[f"{name}highest"] = prices.highest.minor if prices.highest else None
        ranges = {"area": self.area, "rooms": self.rooms}
        for number, one in enumerate(self.attributes):
            parameters[f"attribute_{number}"] = one.name
            parameters[f"attribute_{number}_is"] = one.value
            ranges[f"attribute_{number}"] = one.numbers
        for name, numbers in ranges.items():
            parameters[f"{name}_min"], parameters[f"{name}_max"] = numbers.lowest, numbers.highest
        return {name: value for name, value in parameters.items() if value is not None}


def _price_range(lowest: Money | None, highest: Money | None) -> PriceRange:
    if lowest is not None and highest is not None and lowest > highest:
        raise UserError(f"The lowest price {lowest} is more than the highest price {highest}.")
    return PriceRange(lowest, highest)


def _attributes(values: QueryValues) -> tuple[AttributeCondition, ...]:
    written = (name.removeprefix(ATTRIBUTE_PREFIX) for name in values if name.startswith(ATTRIBUTE_PREFIX))
    names = sorted({name.removesuffix(".min").removesuffix(".max") for name in written} - {""})
    if len(names) > MAX_ATTRIBUTES:
        raise UserError(f"Give conditions on at most {MAX_ATTRIBUTES} attributes.")
    return tuple(
        AttributeCondition(
            name,
            values.text(f"{ATTRIBUTE_PREFIX}{name}"),
            values.numbers(f"{ATTRIBUTE_PREFIX}{name}.min", f"{ATTRIBUTE_PREFIX}{name}.max"),
        )
        for name in names
    )


def _amount(price: Money | None) -> str | None:
    return None if price is None else str(price.amount)


def _number(value: Decimal | float | None) -> str | None:
    return None if value is None else f"{Decimal(str(value)).normalize():f}"
