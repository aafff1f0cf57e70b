"""Values of a query, as people and programs write them; a bad value is refused with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pricewatch.errors import UserError
from pricewatch.money import MAX_CENTS, Money
from pricewatch.parsing.prices.typed_amount import typed_amount, typed_currency

MAX_TEXT = 200
MAX_NUMBER = 10**12
MAX_HOURS = 24 * 366


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A range of numbers; a bound of None is open."""

    lowest: Decimal | None = None
    highest: Decimal | None = None

    @property
    def is_set(self) -> bool:
        return self.lowest is not None or self.highest is not None


ANY_NUMBER = NumberRange()


class QueryValues:
    """The parameters of a query by name; empty ones are not set."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        cleaned = {name: value.replace("\x00", "").strip() for name, value in parameters.items()}
        self._values = {name: value for name, value in cleaned.items() if value}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def text(self, *names: str) -> str | None:
        """Return the first of several names for the same thing that is set."""
        found = next((self._values[name] for name in names if name in self._values), None)
        if found is not None and len(found) > MAX_TEXT:
            raise UserError(f"{names[0]} is too long: at most {MAX_TEXT} characters.")
        return found

    def choice(self, known: Iterable[str], *names: str) -> str | None:
        value, words = self.text(*names), list(known)
        if value is not None and value not in words:
            raise UserError(f"Unknown {names[0]} {value[:40]!r}. Known: {', '.join(words)}")
        return value

    def number(self, name: str) -> Decimal | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            number = Decimal(value.replace(",", "."))
        except InvalidOperation:
            number = Decimal("NaN")
        # Comparing with NaN would raise.
        if not number.is_finite() or abs(number) > MAX_NUMBER:
            raise UserError(f"{name}: {value[:40]!r} is not a number. Example: 2.5")
        return number

    def numbers(self, lowest: str, highest: str) -> NumberRange:
        found = NumberRange(self.number(lowest), self.number(highest))
        if found.lowest is not None and found.highest is not None and found.lowest > found.highest:
            raise UserError(f"{lowest} {found.lowest} is more than {highest} {found.highest}.")
        return found

    def hours(self, name: str) -> float | None:
        number = self.number(name)
        if number is not None and not 0 < number <= MAX_HOURS:
            raise UserError(f"{name}: give 1 to {MAX_HOURS} hours.")
        return None if number is None else float(number)

    def currency(self) -> str | None:
        value = self.text("currency")
        return typed_currency(value) if value else None

    def price(self, name: str) -> Money | None:
        """Return a typed price: 12.50."""
        value, currency = self.text(name), self.currency()
        if value is None:
            return None
        if currency is None:
            raise UserError("Choose the currency of the price.")
        return typed_amount(value, currency)

    def minor_price(self, name: str) -> Money | None:
        """Return a price in minor units: 1250."""
        value, currency = self.text(name), self.currency()
        if value is None:
            return None
        if currency is None:
            raise UserError(
                "A price filter needs a currency, such as currency=EUR: prices are compared in one currency "
                "only."
            )
        if not (value.isascii() and value.isdigit() and len(value) <= len(str(MAX_CENTS))):
            raise UserError(f"{name}: {value[:40]!r} is not a whole number of minor units. Example: 1250")
        return Money(int(value), currency)
