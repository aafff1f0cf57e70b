"""Price jumps: by more than a factor of four in either direction, and when a second observation agrees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.money import Money
from pricewatch.rules.price_jump import agrees, is_jump

PRICES = st.integers(1, 99_999_999).map(lambda cents: Money(cents, "EUR"))


@pytest.mark.parametrize(
    ("known", "seen", "expected"),
    [
        (1000, 1000, False),
        (1000, 4000, False),
        (1000, 4001, True),
        (1000, 250, False),
        (1000, 249, True),
        (1, 99_999_999, True),
        (None, 5, False),
        (5, None, False),
    ],
)
def test_jump_exceeds_the_factor(known: int | None, seen: int | None, expected: bool) -> None:
    assert is_jump(Money.of(known, "EUR"), Money.of(seen, "EUR")) is expected
    assert not is_jump(Money.of(known, "EUR"), Money.of(seen, "JPY"))


@given(PRICES, PRICES)
def test_jump_is_symmetric(one: Money, other: Money) -> None:
    assert is_jump(one, other) == is_jump(other, one)


@pytest.mark.parametrize(
    ("quarantined", "seen", "expected"),
    [(5000, 5000, True), (5000, 5250, True), (5000, 4750, True), (5000, 5251, False), (5000, 1000, False)],
)
def test_prices_within_five_percent_agree(quarantined: int, seen: int, expected: bool) -> None:
    assert agrees(Money(quarantined, "EUR"), Money(seen, "EUR")) is expected
    assert not agrees(Money(quarantined, "EUR"), Money(seen, "JPY"))


@given(PRICES, PRICES)
def test_agreeing_prices_are_not_a_jump(one: Money, other: Money) -> None:
    assert not (agrees(one, other) and is_jump(one, other))
