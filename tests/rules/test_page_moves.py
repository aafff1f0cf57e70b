"""Whether a moved page shows the same product: by its ids, never by its name."""

from __future__ import annotations

import pytest

from pricewatch.rules.page_moves import is_permanent, why_different_product


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [([301], True), ([308, 301], True), ([302], False), ([301, 302], False), ([307], False), ([303], False)],
)
def test_only_permanent_redirects_are_a_move(reasons: list[int], expected: bool) -> None:
    assert is_permanent(reasons) is expected


def test_meta_refresh_or_no_redirect_is_not_a_move() -> None:
    assert not is_permanent([])
    assert not is_permanent(["meta refresh"])


SAME = [
    ({"sku": "AB 1"}, {"sku": " ab  1"}),
    ({"gtin": "0012345678905"}, {"gtin": "12345678905"}),
    ({"mpn": "X-1", "sku": None}, {"mpn": "x-1", "sku": "new"}),
    ({"product_id": "17", "gtin": "4006381333931"}, {"product_id": "17"}),
]
OTHER = [
    ({}, {"sku": "1"}, "no id that is stored"),
    ({"sku": "1"}, {}, "no id that is stored"),
    ({"sku": "1"}, {"mpn": "1"}, "no id that is stored"),
    ({"sku": "1"}, {"sku": "2"}, "another SKU: 2 instead of 1"),
    # Two advertisements for one product share its GTIN but are two listings.
    ({"gtin": "1", "product_id": "17"}, {"gtin": "1", "product_id": "18"}, "another platform id"),
    ({"product_id": "17", "mpn": "A"}, {"product_id": "17", "mpn": "B"}, "another MPN"),
]


@pytest.mark.parametrize(("stored", "found"), SAME)
def test_the_same_id_is_the_same_product(stored: dict[str, str | None], found: dict[str, str | None]) -> None:
    assert why_different_product(stored, found) is None


@pytest.mark.parametrize(("stored", "found", "why"), OTHER)
def test_unknown_or_different_id_is_not_the_same_product(
    stored: dict[str, str], found: dict[str, str], why: str
) -> None:
    assert why in (why_different_product(stored, found) or "")
