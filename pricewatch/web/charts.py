"""Charts as SVG, rendered on the server without scripts or inline styles; style.css sets the colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from math import floor, log10
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from pricewatch.money import Money
from pricewatch.web.template_filters import money

Row = Any
WIDTH, NARROW, HEIGHT = 920, 400, 280
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 16, 30
# The approximate width of a digit in the font of the charts.
DIGIT = 7


def sparkline(rows: Sequence[Row], now: datetime, width: int = 96, height: int = 24) -> Markup:
    """The prices of a listing in its current currency as a step line; empty if there is no price."""
    segments = _segments_in_current_currency(rows, now)
    priced = [row for segment in segments for row in segment.rows]
    if not priced:
        return Markup("")
    first, last = priced[0]["observed_at"], max(now, priced[-1]["observed_at"] + timedelta(hours=1))
    prices = [row["price"].minor for row in priced]
    low, high = min(prices), max(prices)
    across = _scale(first.timestamp(), last.timestamp(), 2, width - 4)
    up = _scale(low, high, height - 4, 4) if high > low else lambda _: height / 2
    paths = [
        _steps(
            [(across(row["observed_at"].timestamp()), up(row["price"].minor)) for row in segment.rows],
            width - 4 if segment is segments[-1] else across(segment.ends.timestamp()),
        )
        for segment in segments
    ]
    end = f"{up(prices[-1]):.1f}"
    trend = "down" if prices[-1] < prices[0] else "up" if prices[-1] > prices[0] else "flat"
    label = (
        f"{len(priced)} prices, {'falling' if trend == 'down' else 'rising' if trend == 'up' else 'steady'}"
    )
    return Markup(  # noqa: S704 - numbers and escaped text
        f'<svg class="spark {trend}" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(label)}"><path d="{" ".join(paths)}" class="line"/>'
        f'<circle cx="{width - 4}" cy="{end}" r="2"/></svg>'
    )


def price_chart(
    rows: Sequence[Row], *, now: datetime, gone_at: datetime | None = None, width: int = WIDTH
) -> Markup:
    """Price history as a step line, with periods out of stock, gone or in another currency behind it.

    The line shows the current currency, and breaks where the price was in another one.
    """
    ends = max(now, rows[-1]["observed_at"]) if rows else now
    stop = min(gone_at, ends) if gone_at else ends
    segments = _segments_in_current_currency(rows, stop)
    priced = [row for segment in segments for row in segment.rows]
    if not priced:
        return Markup("")
    currency = priced[-1]["price"].currency
    first = min(priced[0]["observed_at"], ends - timedelta(hours=1))
    low, high = _range([row["price"].minor for row in priced])
    levels = {tick: money(Money(round(tick), currency)) for tick in _ticks(low, high)}
    left = max(LEFT, DIGIT * max(map(len, levels.values()), default=0) + 8)
    across = _scale(first.timestamp(), ends.timestamp(), left, width - RIGHT)
    up = _scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [_grid(levels, up, left, width - RIGHT), _days(first, ends, across, 5 if width > NARROW else 2)]
    parts += [
        _period(max(left, across(begin.timestamp())), across(end.timestamp()), kind)
        for begin, end, kind in _periods(rows, stop, ends, gone_at, currency)
    ]
    base = HEIGHT - BOTTOM
    for segment in segments:
        points = [(across(row["observed_at"].timestamp()), up(row["price"].minor)) for row in segment.rows]
        path = _steps(points, across(segment.ends.timestamp()))
        parts.append(f'<path class="area" d="{path} V{base} H{points[0][0]:.1f} Z"/>')
        parts.append(f'<path class="line" d="{path}"/>')
        parts += [_dot(x, y, row) for (x, y), row in zip(points, segment.rows, strict=True)]
    label = f"Price history: {len(priced)} rows, last {money(priced[-1]['price'])}"
    return _svg("price-chart", width, HEIGHT, label, parts)


def bars(days: Sequence[tuple[str, int, int]], label: str, height: int = 120) -> Markup:
    """One bar for each day, with the runs that did not finish well in another colour."""
    most = max((total for _, total, _ in days), default=0) or 1
    width = 560
    step = (width - 8) / max(1, len(days))
    up = _scale(0, most, height - 22, 10)
    parts = [f'<line class="axis" x1="4" x2="{width - 4}" y1="{height - 22}" y2="{height - 22}"/>']
    for place, (day, total, bad) in enumerate(days):
        x, y = 4 + place * step + 2, up(total)
        parts.append(
            f"<g><title>{escape(day)}: {total} runs, {bad} not finished well</title>"
            f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{step - 4:.1f}"'
            f' height="{height - 22 - y:.1f}" rx="2"/>'
        )
        if bad:
            parts.append(
                f'<rect class="bar bad" x="{x:.1f}" y="{up(bad):.1f}" width="{step - 4:.1f}"'
                f' height="{height - 22 - up(bad):.1f}" rx="2"/>'
            )
        parts.append("</g>")
        if place % max(1, len(days) // 7) == 0:
            middle = x + step / 2 - 2
            parts.append(
                f'<text x="{middle:.1f}" y="{height - 6}" text-anchor="middle">{escape(day[5:])}</text>'
            )
    return _svg("bars", width, height, label, parts)


def rates(rows: Sequence[Row], label: str) -> Markup:
    """Failure and yield rate of an adapter for each batch, from 0 to 100 per cent."""
    if not rows:
        return Markup("")
    width, height, left = 560, 150, 40
    across = _scale(0, max(1, len(rows) - 1), left, width - 12)
    up = _scale(0, 1, height - 22, 10)
    parts = []
    for level in (0, 0.5, 1):
        parts.append(
            f'<line class="grid" x1="{left}" x2="{width - 12}" y1="{up(level):.1f}" y2="{up(level):.1f}"/>'
        )
        parts.append(f'<text x="{left - 6}" y="{up(level) + 4:.1f}" text-anchor="end">{level:.0%}</text>')
    for name in ("yield_rate", "failure_rate"):
        points = [
            (across(place), up(float(row[name]))) for place, row in enumerate(rows) if row[name] is not None
        ]
        if not points:
            continue
        path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        kind = "good" if name == "yield_rate" else "bad"
        parts.append(f'<path class="line {kind}" d="{path}"/>')
        parts += [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points[-60:]]
    ends = [(0, "start")] if len(rows) == 1 else [(0, "start"), (len(rows) - 1, "end")]
    for place, anchor in ends:
        at = f"{rows[place]['ended_at']:%m-%d %H:%M}"
        parts.append(f'<text x="{across(place):.1f}" y="{height - 6}" text-anchor="{anchor}">{at}</text>')
    return _svg("rates", width, height, label, parts)


class _Segment(NamedTuple):
    """Consecutive rows in one currency, and the time at which the last of these prices ended."""

    rows: list[Row]
    ends: datetime


def _segments_in_current_currency(rows: Sequence[Row], ends: datetime) -> list[_Segment]:
    """The segments of the history in the currency of the last price."""
    priced = [row for row in rows if row["price"] is not None]
    found: list[_Segment] = []
    for currency, group in groupby(reversed(priced), key=lambda row: row["price"].currency):
        segment = _Segment(list(group)[::-1], ends)
        ends = segment.rows[0]["observed_at"]
        if currency == priced[-1]["price"].currency:
            found.append(segment)
    return found[::-1]


def _svg(kind: str, width: int, height: int, label: str, parts: Sequence[str]) -> Markup:
    return Markup(  # noqa: S704 - numbers and escaped text
        f'<svg class="chart {kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
        + "".join(parts)
        + "</svg>"
    )


def _scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    if high <= low:
        return lambda _: begin
    return lambda value: begin + (value - low) / (high - low) * (end - begin)


def _steps(points: Sequence[tuple[float, float]], last: float) -> str:
    """Draw each price until the next one, and the last one until the segment ends."""
    (x, y), *rest = points
    steps = "".join(f" H{nx:.1f} V{ny:.1f}" for nx, ny in rest)
    return f"M{x:.1f},{y:.1f}{steps} H{last:.1f}"


def _range(prices: Sequence[int]) -> tuple[float, float]:
    low, high = min(prices), max(prices)
    margin = (high - low) * 0.15 or high * 0.1
    return max(0, low - margin), high + margin


def _ticks(low: float, high: float, about: int = 4) -> list[float]:
    raw = (high - low) / about
    size = 10 ** floor(log10(raw)) if raw > 0 else 1
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    first = floor(low / step) + 1
    return [step * place for place in range(first, first + about + 3) if low < step * place < high]


def _grid(levels: Mapping[float, str], up: Callable[[float], float], left: float, right: float) -> str:
    return "".join(
        f'<line class="grid" x1="{left}" x2="{right}" y1="{up(level):.1f}" y2="{up(level):.1f}"/>'
        f'<text x="{left - 8}" y="{up(level) + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        for level, label in levels.items()
    )


def _days(first: datetime, last: datetime, across: Callable[[float], float], steps: int) -> str:
    """Labels of the time axis; the format depends on its length, so that no two labels are the same."""
    days = (last - first) / timedelta(days=1)
    layout = "%H:%M" if days < 1 else "%b %d, %H:%M" if days < 6 else "%b %d" if days < 300 else "%b %Y"
    parts = []
    for place in range(steps + 1):
        moment = first + (last - first) * place / steps
        anchor = "start" if place == 0 else "end" if place == steps else "middle"
        x = across(moment.timestamp())
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">{moment.strftime(layout)}</text>'
        )
    return "".join(parts)


def _periods(
    rows: Sequence[Row], stop: datetime, ends: datetime, gone_at: datetime | None, currency: str
) -> list[tuple[datetime, datetime, str]]:
    found = []
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        end = following["observed_at"] if following else stop
        if row["availability"] in ("OUT_OF_STOCK", "SOLD") and end > row["observed_at"]:
            found.append((row["observed_at"], end, "sold" if row["availability"] == "SOLD" else "out"))
        price = row["price"]
        if price is not None and price.currency != currency and end > row["observed_at"]:
            found.append((row["observed_at"], end, price.currency))
    if gone_at is not None and gone_at < ends:
        found.append((gone_at, ends, "gone"))
    return found


def _period(begin: float, end: float, kind: str) -> str:
    """`kind` is out, sold or gone, or the code of another currency."""
    names = {"out": "out of stock", "gone": "gone", "sold": "sold"}
    name, style = (names[kind], kind) if kind in names else (f"in {escape(kind)}", "other")
    width = max(2.0, end - begin)
    label = f'<text x="{begin + 6:.1f}" y="{TOP + 12}">{name}</text>' if width > 70 else ""
    return (
        f'<g class="period {style}"><title>{name}</title><rect x="{begin:.1f}" y="{TOP}"'
        f' width="{width:.1f}" height="{HEIGHT - TOP - BOTTOM}"/>{label}</g>'
    )


def _dot(x: float, y: float, row: Row) -> str:
    title = f"{row['observed_at']:%Y-%m-%d %H:%M} UTC: {money(row['price'])}"
    stock = row["availability"].replace("_", " ").lower()
    return (
        f'<g class="point"><title>{escape(title)}, {escape(stock)}</title>'
        f'<circle class="touch" cx="{x:.1f}" cy="{y:.1f}" r="10"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/></g>'
    )
