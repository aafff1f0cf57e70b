"""Data that is made to cost time: it is read in linear time, or left out and said to be."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, Quarantine
from pricewatch.parsing.pages.element_tree import parse_html
from pricewatch.parsing.pages.sanitized_html import PageMark, sanitized_page
from pricewatch.parsing.prices.numbers import MAX_LENGTH, numbers_in
from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price, parse_price
from pricewatch.parsing.structured_data.block_limits import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_PRODUCTS,
    MAX_PROPERTIES,
    BlockTooLarge,
)
from pricewatch.parsing.structured_data.embedded_state import state_prices
from pricewatch.parsing.structured_data.jsonld import decode_jsonld
from pricewatch.parsing.structured_data.microdata import ELEMENT, read_microdata
from pricewatch.parsing.structured_data.structured_products import products_in
from pricewatch.parsing.text import clean

# Far more than needed, and far less than a quadratic reader takes.
SECONDS = 1.0
PRODUCT = {"@type": "Product", "name": "Kettle", "offers": {"price": "12.50", "priceCurrency": "EUR"}}


def cpu_seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def page(*parts: str) -> HtmlResponse:
    body = "<html><head><title>Kettle</title></head><body><h1>Kettle</h1>" + "".join(parts)
    button = "<p class='price'>12,50 €</p><button>Add to cart</button></body></html>"
    return HtmlResponse("https://shop.test/kettle", body=(body + button).encode())


def script(text: str, kind: str = "application/ld+json") -> str:
    return f'<script type="{kind}">{text}</script>'


@pytest.mark.parametrize(
    "unit",
    ['\\"', " ", '"', "/*", "<!--", "//", '"\\', ",", "]]>", "{", "[", "&quot;", "\n", "-->", '{"a":', "*/;"],
)
@pytest.mark.parametrize("start", ["", "{", '"', "// ]]>"])
def test_broken_json_ld_is_read_in_linear_time(start: str, unit: str) -> None:
    text = start + unit * (60_000 // len(unit))
    assert cpu_seconds(lambda: decode_jsonld(text)) < SECONDS


@pytest.mark.parametrize("unit", ['\\"', " "])
def test_a_page_with_broken_json_ld_is_read_in_linear_time(unit: str) -> None:
    response = page(script("{" + unit * (60_000 // len(unit))))
    assert cpu_seconds(lambda: GenericAdapter().extract(response)) < SECONDS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": "' + "x" * 2_000_000 + '"}', "characters"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "levels deep"),
        ("[" + ",".join(["{}"] * MAX_NODES) + "]", "objects"),
    ],
    ids=["long", "deep", "wide"],
)
def test_json_ld_above_a_limit_is_left_out_and_said_to_be(text: str, why: str) -> None:
    with pytest.raises(BlockTooLarge, match=why):
        decode_jsonld(text)
    result = GenericAdapter().extract(page(script(text)))
    # The block may contradict the price that the page shows.
    assert isinstance(result, Quarantine)
    assert why in result.details["why"]
    assert any(line.startswith("left out: ") and why in line for line in result.details["evidence"])


def test_a_page_without_such_a_block_is_accepted() -> None:
    assert isinstance(GenericAdapter().extract(page(script(json.dumps(PRODUCT)))), Extracted)


def test_too_many_products_are_left_out() -> None:
    assert len(products_in([PRODUCT] * MAX_PRODUCTS, "json-ld")) == MAX_PRODUCTS
    with pytest.raises(BlockTooLarge, match="products"):
        products_in([PRODUCT] * (MAX_PRODUCTS + 1), "json-ld")


def test_a_long_key_is_not_copied_for_each_of_its_values() -> None:
    data = {"k" * 1_000_000: [{"a": 1}] * 40_000}
    assert cpu_seconds(lambda: products_in(data, "json-ld")) < SECONDS


def test_deep_microdata_is_left_out() -> None:
    item = "<div itemscope itemprop=name itemtype=https://schema.org/Product>"
    root = parse_html((item * (MAX_DEPTH + 3)).encode())
    with pytest.raises(BlockTooLarge, match="levels deep"):
        read_microdata(root)


def test_too_many_properties_are_left_out() -> None:
    root = parse_html(b"<p itemprop=price>1</p>" * (MAX_PROPERTIES + 1))
    with pytest.raises(BlockTooLarge, match="itemprop"):
        read_microdata(root)


def test_properties_of_a_deep_page_are_read_in_linear_time() -> None:
    """Each property looks for the item around it."""
    body = b"<div>" * 2_000 + b"<i itemprop=price></i>" * 4_000
    root = parse_html(body)
    assert cpu_seconds(lambda: read_microdata(root)) < SECONDS
    assert len(read_microdata(root)[0]["price"]) == 4_000


@pytest.mark.parametrize(
    "flood",
    [
        "<b itemprop=offer></b><p itemprop>",
        "<b property=offers></b><p property>",
        "<h2></h2><h3></h3>",
        "<p data-price><p data-price-amount>",
        "<input type=hidden name=price value=1><p class=name>",
    ],
)
def test_floods_of_marked_elements_are_read_in_linear_time(flood: str) -> None:
    """A union in XPath, or the parents of attributes, takes quadratic time inside libxml2."""
    response = page("<p>8 \u20ac</p>", flood * (900_000 // len(flood)))
    assert cpu_seconds(lambda: GenericAdapter().extract(response)) < 2 * SECONDS


def test_a_property_cannot_replace_the_element_of_its_item() -> None:
    root = parse_html(b"<div itemscope><b itemprop='@element'>1</b><b itemprop='@type'>x</b></div>")
    (item,) = read_microdata(root)
    assert item["@type"] == ""
    assert item[ELEMENT].tag == "div"


def test_too_many_meta_prices_are_left_out() -> None:
    tag = "<meta property='product:price:amount' content='12.50'>"
    result = GenericAdapter().extract(page(tag * 200))
    assert isinstance(result, Quarantine)
    assert "meta tags" in result.details["why"]


@pytest.mark.parametrize(
    "text",
    [
        "product=[" * 200_000 + "price",
        'product={"' + "k" * 500_000 + '":[' + ",".join(["{}"] * 50_000) + '],"price":1}',
        "x='price';" + 'product=[{"name":"Kettle","price":1}];' * 10_000,
    ],
    ids=["assignments", "long key", "objects"],
)
def test_script_state_above_a_limit_is_left_out(text: str) -> None:
    root = parse_html(f"<html><body><script>{text}</script></body></html>".encode())
    left_out: list[str] = []
    assert cpu_seconds(lambda: state_prices(root, "Kettle", left_out)) < SECONDS
    assert left_out
    assert state_prices(root, "Kettle", []) == []


@pytest.mark.parametrize(
    "text",
    [
        "1 " * 8_000,
        "1€ " * 6_000,
        "€1 \ue000 " + "1 " * 8_000,
        "1 " * 8_000 + "\ue000 €1",
        "1" + "$" * 19_000,
    ],
    ids=["plain", "marked", "after a mark", "before a mark", "marks"],
)
def test_thousands_of_numbers_are_read_in_linear_time(text: str) -> None:
    assert cpu_seconds(lambda: numbers_in(text)) < 2 * SECONDS


def test_a_text_that_is_too_long_for_a_price_is_refused() -> None:
    text = "12,50 € " * (MAX_LENGTH // 8 + 1)
    assert parse_price(text).refusal is PriceRefusal.TOO_LONG
    assert parse_machine_price("1" * (MAX_LENGTH + 1), "EUR").refusal is PriceRefusal.TOO_LONG


@pytest.mark.parametrize("digits", [50, 5_000, 19_000])
def test_a_number_of_many_digits_is_no_price(digits: int) -> None:
    assert parse_price("9" * digits + " €").amount is None
    assert parse_machine_price("9" * digits, "EUR").amount is None


def test_character_references_of_many_digits_are_cleaned() -> None:
    """Python raises an error for numbers of over 4,300 digits."""
    digits = "9" * 5_000
    assert clean(f"a &#{digits}; &amp;#{digits}; &#65;") == "a \ufffd \ufffd A"


@pytest.mark.parametrize(
    "unit", ["text<script></script>", "text<!-- -->", "text<?pi?>", "<i itemprop=a>1</i>"]
)
def test_a_held_page_is_sanitized_in_linear_time(unit: str) -> None:
    text = "<p>" + unit * (660_000 // len(unit))
    marks = [PageMark("i", str(number), "price") for number in range(2, 12)]
    assert cpu_seconds(lambda: sanitized_page(text, "page.css", marks)) < 2 * SECONDS


def test_text_after_a_comment_is_displayed() -> None:
    assert "12 €" in sanitized_page("<p>Price <!-- now --> 12 €</p>", "page.css")
