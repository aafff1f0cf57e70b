"""Adapters declare exactly the market parameters that their search URLs are built from."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.declared_shops.declaration import SEARCH_FIELDS, Declaration
from pricewatch.declared_shops.declared_adapter import DeclaredAdapter

PARAMETERS = (*SEARCH_FIELDS, "min_price_cents", "max_price_cents", "status")
DECLARED = {
    "domain": "teashop.example",
    "currency": "EUR",
    "pages": "?p={page}",
    "search": "/{category}/search?q={keyword}",
    "overview": {"card": "li", "next": "a.next", "title": "h2"},
}
OVERVIEW_ADAPTERS: list[Adapter] = [
    *(adapters.get(name) for name in adapters.REGISTERED if adapters.get(name).has_overview()),
    DeclaredAdapter("teashop", Declaration.model_validate(DECLARED)),
]


def value(name: str, number: int) -> str | int:
    return number * 1000 if name.endswith("_cents") else f"value{number}"


def changes_url(adapter: Adapter, name: str, others: dict[str, Any]) -> bool:
    first, second = ({**others, name: value(name, number)} for number in (1, 2))
    return adapter.start_pages(first) != adapter.start_pages(second)


@pytest.mark.parametrize("adapter", OVERVIEW_ADAPTERS, ids=lambda adapter: adapter.id)
def test_declared_parameters_are_those_of_the_search_url(adapter: Adapter) -> None:
    declared = adapter.search_parameters
    assert declared
    complete = {name: value(name, 1) for name in declared}
    used = {
        name
        for name in (*PARAMETERS, "colour")
        # A search URL may need all parameters, or ignore some if another one is present.
        if changes_url(adapter, name, complete) or changes_url(adapter, name, {})
    }
    assert used == set(declared)


def test_adapter_without_searches_declares_no_parameters() -> None:
    assert adapters.get("generic").search_parameters == ()
