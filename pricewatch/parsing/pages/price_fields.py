"""Amounts that a page keeps for its forms and scripts: hidden fields and attributes named after the price."""

from __future__ import annotations

from decimal import Decimal

from pricewatch.parsing.pages.element_tree import Element, compiled_xpath
from pricewatch.parsing.prices.price import parse_machine_price

_FIELDS = compiled_xpath(
    "descendant::input[@type='hidden'][contains(@name, 'price') or contains(@name, 'Price')]/@value"
    "|descendant::*/@data-price|descendant::*/@data-product-price|descendant::*/@data-price-amount"
)
_MAX_FIELDS = 60
_MAX_LENGTH = 20


def field_amounts(block: Element) -> frozenset[Decimal]:
    """The amounts in hidden fields and attributes of the main product block; some may be of variants."""
    values = [str(value) for value in _FIELDS(block)[:_MAX_FIELDS]]
    prices = [parse_machine_price(value, None) for value in values if len(value) <= _MAX_LENGTH]
    return frozenset(price.amount for price in prices if price.amount)
