"""The labels of charts: readable, distinct, and inside the picture."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.money import Money
from pricewatch.web import charts

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)
LABEL = re.compile(r'<text x="([\d.-]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)')


def row(
    days: float, price: int | None, currency: str = "EUR", availability: str = "IN_STOCK"
) -> dict[str, Any]:
    observed_at = NOW - timedelta(days=days)
    return {
        "observed_at": observed_at,
        "price": Money.of(price, currency),
        "availability": availability,
    }


@pytest.mark.parametrize("days", [0.02, 0.9, 1.5, 3, 5.5, 40, 800])
@pytest.mark.parametrize("width", [charts.WIDTH, charts.NARROW])
def test_time_labels_are_distinct(days: float, width: int) -> None:
    drawn = charts.price_chart([row(days, 100)], now=NOW, width=width)
    moments = [text for _, y, _, text in LABEL.findall(drawn) if float(y) == charts.HEIGHT - 8]
    assert len(moments) == (6 if width == charts.WIDTH else 3)
    assert len(set(moments)) == len(moments)


@pytest.mark.parametrize("width", [charts.WIDTH, charts.NARROW])
@pytest.mark.parametrize("currency", ["EUR", "IDR", "JPY"])
def test_long_price_labels_stay_inside_the_chart(currency: str, width: int) -> None:
    rows = [row(9, 88_000_000, currency), row(1, 99_999_999, currency)]
    drawn = charts.price_chart(rows, now=NOW, width=width)
    labels = [(float(x), text) for x, _, anchor, text in LABEL.findall(drawn) if anchor == "end"][:-1]
    assert labels
    assert all(x - charts.DIGIT * len(text) >= 0 for x, text in labels)


def test_prices_in_two_currencies_are_not_compared() -> None:
    rows = [row(9, 90_000, "IDR"), row(5, 100), row(1, 120)]
    assert 'class="spark up"' in charts.sparkline(rows, NOW)
    assert "2 rows" in charts.price_chart(rows, now=NOW)


def test_without_a_price_there_is_no_chart() -> None:
    assert charts.sparkline([row(1, None)], NOW) == charts.price_chart([row(1, None)], now=NOW) == ""
