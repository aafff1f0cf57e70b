"""JSON-LD as a second source for adapters that read HTML elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsel import Selector

from pricewatch.adapters.page_fields import absolute_link
from pricewatch.parsing.prices.price import to_cents
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.block_limits import BlockTooLarge
from pricewatch.parsing.structured_data.jsonld import decode_jsonld, is_jsonld_type
from pricewatch.parsing.structured_data.structured_products import first_text, products_in
from pricewatch.parsing.url import is_same_product_url

_MAX_DEPTH = 12


def structured_prices(document: Selector, url: str, currency: str) -> set[int] | None:
    """All prices of the page's product, including the ends of ranges; None if there is no product.

    None of the prices if the data is too large to read, so that no displayed price agrees with it.
    """
    try:
        found = products_in(_json_ld(document), "json-ld")
    except BlockTooLarge:
        return set()
    products = [
        product
        for product in found
        if not product.url or is_same_product_url(absolute_link(url, product.url), url)
    ]
    offers = [offer for product in products for offer in product.offers if offer.role is not Role.LIST]
    in_currency = [offer for offer in offers if offer.price.currency in (None, currency)]
    amounts = [amount for offer in in_currency for amount in (offer.price.amount, offer.high) if amount]
    return {cents for amount in amounts if (cents := to_cents(amount, currency))} if products else None


def structured_names(document: Selector, url: str) -> dict[str, str]:
    """Names by absolute link."""
    try:
        nodes = _nodes(_json_ld(document), 0)
    except BlockTooLarge:
        return {}
    named = (
        (absolute_link(url, first_text(node.get("url"))), first_text(node.get("name"))) for node in nodes
    )
    return {link: name for link, name in named if link and name}


def _json_ld(document: Selector) -> list[Any]:
    scripts = [script for script in document.css("script[type]") if is_jsonld_type(script.attrib["type"])]
    return [value for script in scripts for value in decode_jsonld(script.root.text or "")]


def _nodes(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in children if depth < _MAX_DEPTH else ():
        yield from _nodes(one, depth + 1)
