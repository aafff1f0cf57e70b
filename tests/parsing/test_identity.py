from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.parsing.identity import identity_key

URL = "https://shop.com/a"
BY_URL = "URL:62df13b724b326d5"


@pytest.mark.parametrize(
    ("product_id", "sku", "key"),
    [
        ("123", "ABC", "PID:123"),
        (None, "ABC", "SKU:ABC"),
        ("", "ABC", "SKU:ABC"),
        ("  ", "ABC", "SKU:ABC"),
        ("12:3", "ABC", "SKU:ABC"),
        ("x" * 256, "ABC", "SKU:ABC"),
        ("x" * 255, None, "PID:" + "x" * 255),
        (" 12 3 ", None, "PID:12 3"),
        (None, None, BY_URL),
        ("a:b", "c:d", BY_URL),
    ],
)
def test_first_valid_id_is_used(product_id, sku, key):
    assert identity_key(product_id, sku, URL) == key


@settings(deadline=None)
@given(st.none() | st.text(), st.none() | st.text(), st.text(min_size=1))
def test_all_keys_are_valid(product_id, sku, url):
    kind, _, value = identity_key(product_id, sku, url).partition(":")
    assert kind in ("PID", "SKU", "URL")
    assert value
    assert ":" not in value
    assert len(value) <= 255
    assert not re.search(r"[\x00-\x1f]", value)
