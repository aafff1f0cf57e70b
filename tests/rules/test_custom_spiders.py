"""Custom spiders: their reader ids, and how their runs are distinguished from pricewatch's."""

from __future__ import annotations

import pytest

from pricewatch import adapters
from pricewatch.rules.custom_spiders import CUSTOM, OURS, in_words, is_spider, kind_of, reader_id, spider_of


@pytest.mark.parametrize("name", ["toys", "Acme/toys & games", "spider:x", "a b"])
def test_reader_id_contains_the_spider_name(name: str) -> None:
    reader = reader_id(name)
    assert is_spider(reader)
    assert spider_of(reader) == name
    assert in_words(reader) == f"spider {name}"


def test_an_adapter_is_not_a_spider() -> None:
    for adapter_id in (None, "", "spider", *adapters.known()):
        assert not is_spider(adapter_id)
        assert spider_of(adapter_id) is None
    assert in_words("bazaar") == "adapter bazaar"


def test_custom_spider_may_have_the_name_of_a_built_in_spider() -> None:
    for name in OURS:
        assert kind_of(name, "bazaar") == kind_of(name, None) == name
        assert kind_of(name, reader_id(name)) == CUSTOM
    assert kind_of("toys", reader_id("toys")) == kind_of("toys", None) == CUSTOM
