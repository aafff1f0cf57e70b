"""Amounts that a page keeps for its forms and scripts: hidden fields and attributes named after the price."""

from __future__ import annotations

from decimal import Decimal

from pricewatch.parsing.pages.element_tree import Element, compiled_xpath
from pricewatch.parsing.prices.price import parse_machine_price

# One step, and not a union of several, which takes quadratic time for many elements.
_FIELDS = compiled_xpath(
    "descendant::*[@data-price or @data-product-price or @data-price-amount or"
    " (self::input and @type='hidden' and (contains(@name, 'price') or contains(@name, 'Price')))]"
)
_ATTRIBUTES = ("data-price", "data-product-price", "data-price-amount")
_MAX_FIELDS = 60
_MAX_LENGTH = 20


def field_amounts(block: Element) -> frozenset[Decimal]:
    """The amounts in hidden fields and attributes of the main product block; some may be of variants."""
    elements: list[Element] = _FIELDS(block)[:_MAX_FIELDS]
    values = [element.get(name) or "" for element in elements for name in _ATTRIBUTES]
    values += [element.get("value") or "" for element in elements if element.tag == "input"]
    prices = [parse_machine_price(value, None) for value in values if len(value) <= _MAX_LENGTH]
    return frozenset(price.amount for price in prices if price.amount)
