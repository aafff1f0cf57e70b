"""Money: an amount in minor units of its currency, with the number of decimals that ISO 4217 defines.

Columns and fields named `..._cents` hold minor units of any currency: euro cents, whole yen, Kuwaiti fils.
To compare, add or format an amount, convert it to `Money` first, which includes the currency.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

# The highest valid price, in minor units of any currency.
MAX_CENTS = 99_999_999
_CODE = re.compile(r"[A-Z]{3}")
ISO_4217: frozenset[str] = frozenset(
    _CODE.findall(
        """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN
    BZD CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
    GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN
    NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
    SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS
    VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """,
    )
)
# The number of decimals of currencies that do not have two.
_DECIMALS = {
    **dict.fromkeys(_CODE.findall("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"), 0),
    **dict.fromkeys(_CODE.findall("BHD IQD JOD KWD LYD OMR TND"), 3),
    "CLF": 4,
}


class CurrencyMismatch(TypeError):
    """Amounts of different currencies were compared or added, which is a programming error."""


def minor_units(code: str) -> int:
    """Return the number of decimals of a currency: 2 for most, 0 for the yen, 3 for the Kuwaiti dinar."""
    return _DECIMALS.get(code, 2)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency; operations with another currency raise `CurrencyMismatch`."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        # bool is a subclass of int, but not an amount.
        if isinstance(self.minor, bool) or not isinstance(self.minor, int):
            raise TypeError(f"{self.minor!r} is not an amount in minor units")
        if not isinstance(self.currency, str) or not _CODE.fullmatch(self.currency):
            raise ValueError(f"{self.currency!r} is not a currency code such as EUR")

    @classmethod
    def of(cls, minor: int | None, currency: str | None) -> Money | None:
        """Create money from two fields of a row or item; None if they are not a valid price."""
        if not isinstance(minor, int) or isinstance(minor, bool) or not _CODE.fullmatch(currency or ""):
            return None
        return cls(minor, currency or "")

    @property
    def decimals(self) -> int:
        return minor_units(self.currency)

    @property
    def amount(self) -> Decimal:
        """The amount in whole units with all decimals of the currency: 12.50, 1250, 1.250."""
        return Decimal(self.minor).scaleb(-self.decimals)

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"

    def is_like(self, other: Money | None) -> bool:
        """Return whether both have the same currency, so that they can be compared."""
        return other is not None and other.currency == self.currency

    def __add__(self, other: Money) -> Money:
        return Money(self.minor + self._comparable(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.minor - self._comparable(other), self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.minor < self._comparable(other)

    def __le__(self, other: Money) -> bool:
        return self.minor <= self._comparable(other)

    def __gt__(self, other: Money) -> bool:
        return self.minor > self._comparable(other)

    def __ge__(self, other: Money) -> bool:
        return self.minor >= self._comparable(other)

    def __truediv__(self, other: Money) -> float:
        """Return the ratio of the two amounts."""
        return self.minor / self._comparable(other)

    def exceeds(self, other: Money, factor: float) -> bool:
        """Return whether the amount is more than `factor` times the other one."""
        return self.minor > self._comparable(other) * factor

    def is_percent_of(self, percent: float, other: Money) -> bool:
        """Return whether the amount is at least `percent` % of the other one."""
        return self.minor * 100 >= percent * self._comparable(other)

    def change_from(self, before: Money) -> float | None:
        """Return the relative change from an earlier price: 0.1 is 10 % more; None if that price was 0."""
        difference = self - before
        return difference / before if before.minor else None

    def _comparable(self, other: Money) -> int:
        if not isinstance(other, Money) or other.currency != self.currency:
            raise CurrencyMismatch(f"{self} cannot be compared with {other}")
        return other.minor


def by_currency(prices: Iterable[Money]) -> dict[str, list[Money]]:
    """Group prices by currency, lowest first; the currency with the most prices comes first."""
    groups: dict[str, list[Money]] = {}
    for price in prices:
        groups.setdefault(price.currency, []).append(price)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return {currency: sorted(amounts) for currency, amounts in ordered}
