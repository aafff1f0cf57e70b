"""Custom spiders: their reader ids, and how their runs are distinguished from pricewatch's."""

from __future__ import annotations

import pytest

from pricewatch import adapters
from pricewatch.rules.custom_spiders import (
    BUILT_IN_SPIDERS,
    CUSTOM,
    custom_spider_name,
    is_custom_spider,
    reader_id,
    reader_label,
    run_kind,
)


@pytest.mark.parametrize("name", ["toys", "Acme/toys & games", "spider:x", "a b"])
def test_reader_id_contains_the_spider_name(name: str) -> None:
    reader = reader_id(name)
    assert is_custom_spider(reader)
    assert custom_spider_name(reader) == name
    assert reader_label(reader) == f"spider {name}"


def test_an_adapter_is_not_a_spider() -> None:
    for adapter_id in (None, "", "spider", *adapters.known()):
        assert not is_custom_spider(adapter_id)
        assert custom_spider_name(adapter_id) is None
    assert reader_label("bazaar") == "adapter bazaar"


def test_custom_spider_may_have_the_name_of_a_built_in_spider() -> None:
    for name in BUILT_IN_SPIDERS:
        assert run_kind(name, "bazaar") == run_kind(name, None) == name
        assert run_kind(name, reader_id(name)) == CUSTOM
    assert run_kind("toys", reader_id("toys")) == run_kind("toys", None) == CUSTOM
