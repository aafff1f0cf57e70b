"""Amounts in minor units: how each currency formats them, and plausible prices."""

from random import Random

# Minor units per major unit: yen has no minor unit, the Kuwaiti dinar has a thousand.
MINOR_UNITS = {"EUR": 100, "USD": 100, "JPY": 1, "KWD": 1000}


def displayed(amount: int, currency: str) -> str:
    """Return the amount as pages display it."""
    if currency == "JPY":
        return f"¥{amount:,}"
    if currency == "KWD":
        return f"KWD {amount // 1000:,}.{amount % 1000:03d}"
    major, minor = divmod(amount, 100)
    if currency == "USD":
        return f"${major:,}.{minor:02d}"
    return f"€ {major:,}".replace(",", ".") + f",{minor:02d}"


def decimal(amount: int, currency: str) -> str:
    """Return the amount as in structured data: decimal point, no thousands separator."""
    if currency == "JPY":
        return str(amount)
    if currency == "KWD":
        return f"{amount // 1000}.{amount % 1000:03d}"
    return f"{amount // 100}.{amount % 100:02d}"


def plausible(amount: float, currency: str, rng: Random) -> int:
    """Round an amount to one that a seller would ask for."""
    if currency == "JPY":
        step = 500 if amount >= 20_000 else 100
        return max(step, round(amount / step) * step)
    whole = max(1, round(amount / 100))
    if whole >= 200:
        whole = round(whole / 5) * 5
    ending = rng.choice((0, 0, 0, 0, 0, 90, 99, 50))
    return whole * 100 if ending == 0 else (whole - 1) * 100 + ending


def changed_price(amount: int, factor: float, currency: str, rng: Random) -> int:
    """Return a price near `amount * factor` that differs from `amount`."""
    new = plausible(amount * factor, currency, rng)
    if new == amount:
        step = 100 if currency == "JPY" else 100 * max(1, amount // 10_000)
        new = amount + step if factor > 1 or amount <= step else amount - step
    return new
