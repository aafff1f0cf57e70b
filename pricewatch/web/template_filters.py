"""Template filters: prices, numbers, times and codes in readable form."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricewatch import clock
from pricewatch.money import Money
from pricewatch.rules.custom_spiders import BUILT_IN_SPIDERS
from pricewatch.rules.freshness import badge, overall

SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}
BADGE_TONES = ((80, "good"), (50, "calm"), (40, "warn"), (0, "bad"))
TONES = {
    **dict.fromkeys(
        ("finished", "ok", "alive", "ACTIVE", "SUCCESS", "IN_STOCK", "accepted", "completed"), "good"
    ),
    **dict.fromkeys(("running", "leased", "replayed", "expired"), "live"),
    "LISTED": "calm",
    **dict.fromkeys(
        ("failed", "BROKEN", "FAILED", "P1", "gone", "not_found", "aborted", "unreadable"), "bad"
    ),
    **dict.fromkeys(("http_error", "network_error", "blocked", "robots", "rejected"), "bad"),
    **dict.fromkeys(("stale", "STALE", "quarantined", "QUARANTINED", "P2", "partial", "DROPPED"), "warn"),
    **dict.fromkeys(("trouble", "OUT_OF_STOCK", "BACKORDER", "pending", "repeated"), "warn"),
}


def money(price: Money | None) -> str:
    """€12.99 or 1,250 ISK, with the decimals of its currency; a dash if there is no price."""
    if price is None:
        return "–"
    sign = SIGNS.get(price.currency)
    return f"{sign}{price.amount:,}" if sign else f"{price.amount:,} {price.currency}"


def number(value: Any) -> str:
    return "–" if value is None else f"{value:,}".replace(",", " ")


def quantity(value: Decimal | None) -> str:
    """A number without trailing zeros: 2.5, 120."""
    return "–" if value is None else f"{value.normalize():f}"


def compact(value: int | None) -> str:
    """1.2M for 1234567."""
    if value is None:
        return "–"
    for size, letter in ((1_000_000, "M"), (10_000, "k")):
        if abs(value) >= size:
            scaled = value / (1_000_000 if letter == "M" else 1_000)
            return f"{scaled:.1f}".rstrip("0").rstrip(".") + letter
    return number(value)


def percent(value: Any, digits: int = 0) -> str:
    return "–" if value is None else f"{float(value):.{digits}%}"


def change(now: Money | None, before: Money | None) -> float | None:
    """The relative change of a price; None without an earlier price in the same currency."""
    return None if now is None or before is None or not now.is_like(before) else now.change_from(before)


def signed_percent(value: float | None) -> str:
    if value is None:
        return ""
    digits = 0 if abs(value) >= 0.1 else 1
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.{digits}%}"


def ago(moment: datetime | None) -> str:
    if moment is None:
        return "never"
    seconds = (clock.now() - moment).total_seconds()
    return f"in {span(-seconds)}" if seconds < -1 else "now" if seconds < 5 else f"{span(seconds)} ago"


def span(seconds: float | timedelta | None) -> str:
    """A duration in its largest unit; in two units while the larger one is below 3."""
    if seconds is None:
        return "–"
    left = seconds.total_seconds() if isinstance(seconds, timedelta) else float(seconds)
    for size, unit, below, parts in ((86400, "d", "h", 3600), (3600, "h", "min", 60), (60, "min", "s", 1)):
        if left >= size:
            whole, rest = int(left // size), int(left % size // parts)
            return f"{whole} {unit} {rest} {below}" if rest and whole < 3 else f"{whole} {unit}"
    return f"{left:.1f} s" if left < 10 else f"{left:.0f} s"


def took(row: Any) -> float:
    return float(((row["finished_at"] or row["heartbeat_at"]) - row["started_at"]).total_seconds())


def stamp(moment: datetime | None) -> str:
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def iso(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(timespec="seconds")


def humanize(text: str | None) -> str:
    """Sentence case: IN_STOCK becomes "In stock"."""
    return "" if text is None else text.replace("_", " ").capitalize()


def spider_name(name: str) -> str:
    """The name of a built-in spider as words; custom spiders keep their name."""
    return humanize(name) if name in BUILT_IN_SPIDERS else name


def tone(word: Any) -> str:
    return TONES.get(str(word), "")


def place(url: str) -> str:
    """The path of a URL, for tables that show the site elsewhere."""
    _, scheme, rest = url.partition("://")
    return "/" + rest.partition("/")[2] if scheme else url


def web_address(url: str | None) -> str:
    """The URL if it is safe as a link, else an empty string, as for javascript: URLs."""
    return url if url and url.lower().startswith(("http://", "https://")) else ""


def sum_of(counts: Any, prefix: str) -> int:
    """The sum of all counts whose name has this prefix."""
    return sum(int(count) for name, count in counts.items() if name.startswith(prefix))


def freshness(row: Any) -> dict[str, str]:
    """The freshness badge of a listing for operators, who also see listings hidden from consumers."""
    if row["removed_at"] is not None:
        return {"text": "removed from its markets", "tone": ""}
    if not row["active"]:
        if row["sold_at"] is not None or row["availability"] == "SOLD":
            return {"text": "sold", "tone": "calm"}
        return {"text": "gone", "tone": "bad"}
    text = listing_badge(row, clock.now()) or "hidden until verified"
    level = overall(row["confidence"], row["price_confidence"])
    return {"text": text, "tone": next(tone_ for least, tone_ in BADGE_TONES if level >= least)}


def listing_badge(row: Any, now: datetime) -> str | None:
    """The freshness badge of a listing for consumers; None if it is hidden from them."""
    return badge(
        row["confidence"],
        _days_since(row["first_seen_at"], now),
        row["price_confidence"],
        _days_since(row["price_observed_at"], now),
    )


def _days_since(moment: datetime | None, now: datetime) -> int:
    return 0 if moment is None else max(0, (now - moment).days)


FILTERS = {
    "money": money,
    "number": number,
    "compact": compact,
    "quantity": quantity,
    "percent": percent,
    "signed_percent": signed_percent,
    "ago": ago,
    "span": span,
    "took": took,
    "stamp": stamp,
    "iso": iso,
    "humanize": humanize,
    "spider_name": spider_name,
    "tone": tone,
    "freshness": freshness,
    "change": change,
    "sum_of": sum_of,
    "web_address": web_address,
    "place": place,
}
