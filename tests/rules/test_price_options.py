"""The prices that a person chooses from: grouped by amount and currency, also in rows of earlier versions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.parsing.pages.sanitized_html import PageMark
from pricewatch.rules.price_options import option_of, page_marks, price_options, read_availability
from pricewatch.vocabulary import Availability


def candidate(amount: Any, currency: Any = "EUR", **values: Any) -> dict[str, Any]:
    return {"source": "page", "where": "p", "text": str(amount), "role": "current"} | {
        "amount": amount,
        "currency": currency,
        **values,
    }


def test_candidates_with_the_same_price_are_one_option() -> None:
    first = candidate("12.5", number=4, source="json-ld", role="current", path="")
    second = candidate("12.50", number=2, path="p.a", role="list")
    third = candidate("12.50", "USD", number=7, path="p.b")
    options = price_options({"candidates": [first, second, third]})
    assert [(one.number, one.numbers, one.price) for one in options] == [
        (2, (2, 4), Money(1250, "EUR")),
        (7, (7,), Money(1250, "USD")),
    ]
    assert (options[0].roles, options[0].sources) == (("list", "current"), ("page", "json-ld"))
    assert option_of(options, 4) is options[0]
    assert page_marks(options) == [PageMark("p.a", "12.50", "2"), PageMark("p.b", "12.50", "7")]


def test_bare_number_joins_the_only_price_with_its_amount() -> None:
    joined = price_options({"candidates": [candidate("9"), candidate("9", None)]})
    assert [(one.currency, one.numbers) for one in joined] == [("EUR", (1, 2))]
    apart = price_options({"candidates": [candidate("9"), candidate("9", "USD"), candidate("9", None)]})
    assert [one.currency for one in apart] == ["EUR", "USD", None]
    assert apart[2].price is None


@pytest.mark.parametrize("numbers", [(None, None), (1, 1), (0, 1), ("1", "2"), (True, 2)])
def test_candidates_without_valid_numbers_are_numbered_by_position(numbers: tuple[Any, Any]) -> None:
    rows = [candidate(str(price), number=number) for price, number in zip((5, 6), numbers, strict=True)]
    options = price_options({"candidates": rows})
    assert [(one.number, one.amount) for one in options] == [(1, Decimal(5)), (2, Decimal(6))]


@pytest.mark.parametrize("amount", ["0", "-5", "NaN", "Infinity", "1e999999", "", None, "five"])
def test_amounts_that_are_never_stored_are_left_out(amount: Any) -> None:
    options = price_options({"candidates": [candidate(amount), candidate("7"), "a line of text"]})
    assert [(one.number, one.amount) for one in options] == [(2, Decimal(7))]


@pytest.mark.parametrize("details", [{}, {"candidates": None}, {"candidates": "x"}, {"candidates": [1]}])
def test_details_without_candidates_have_no_options(details: dict[str, Any]) -> None:
    assert price_options(details) == []
    with pytest.raises(UserError, match="no candidates to choose from"):
        option_of([], 1)


@pytest.mark.parametrize(
    ("offer", "evidence", "availability"),
    [
        ("OUT_OF_STOCK", [], Availability.OUT_OF_STOCK),
        ("UNKNOWN", ["price: 5", "availability: IN_STOCK (button)"], Availability.IN_STOCK),
        ("UNKNOWN", ["availability: UNKNOWN (nothing)"], None),
        ("often", ["availability: OFTEN"], None),
        (None, None, None),
    ],
)
def test_availability_comes_from_the_offer_or_its_evidence(
    offer: Any, evidence: Any, availability: Availability | None
) -> None:
    assert read_availability({"availability": offer}, {"evidence": evidence}) is availability
