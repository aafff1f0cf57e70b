"""Prices in the state that a page embeds for its scripts, such as `__NEXT_DATA__` and `dataLayer`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.prices.currency import currency_code
from pricewatch.parsing.prices.price import parse_machine_price
from pricewatch.parsing.text import name_words

_ASSIGNMENT = re.compile(
    r"(?:dataLayer(?:\.push\s*\(|\s*=)|__\w{0,40}(?:STATE|DATA|PROPS|NUXT)__\s*=|ShopifyAnalytics\.meta\s*=|"
    r"digitalData\s*=|utag_data\s*=|initialState\s*=|productData\s*=|(?:product|meta)\s*=|"
    r"gtag\(\s*['\"]event['\"]\s*,\s*"
    r"['\"]view_item['\"]\s*,)\s*(?=[\[{])"
)
_NAMES = ("name", "title", "productName", "product_name", "item_name", "displayName", "productTitle")
# In order of preference: sale prices come first.
_PRICES = (
    "salePrice", "sale_price", "finalPrice", "final_price", "currentPrice", "current_price", "specialPrice",
    "sellingPrice", "price", "priceAmount", "price_amount", "unitPrice", "productPrice",
)  # fmt: skip
_CURRENCIES = ("currency", "currencyCode", "priceCurrency", "currency_code", "currencyIso", "currencyISO")
_MAX_NODES = 20_000
_MAX_SCRIPT_SIZE = 3_000_000
_SIMILAR = 0.8

_decoder = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class StatePrice:
    amount: Decimal
    currency: str | None
    where: str
    text: str
    # Uncertain on its own: a whole number may be in cents, and a discount may or may not be included.
    only_confirms: bool


def state_prices(root: Element, title: str) -> list[StatePrice]:
    """The prices of objects whose name matches the title."""
    name = name_words(title)
    found: list[StatePrice] = []
    for index, script in enumerate(root.iter("script")):
        text = script.text or ""
        if "rice" not in text or len(text) > _MAX_SCRIPT_SIZE or script.get("src"):
            continue
        for start, value in _values(script, text):
            found.extend(_prices(value, name, f"script[{index}]{start}"))
    return found


def _values(script: Element, text: str) -> Iterator[tuple[str, Any]]:
    kind = (script.get("type") or "").partition(";")[0].strip().lower()
    if kind == "application/ld+json":
        return
    if kind == "application/json":
        value = _decoded(text, len(text) - len(text.lstrip()))
        if value is not None:
            yield f"#{script.get('id') or ''}", value
        return
    for match in _ASSIGNMENT.finditer(text):
        value = _decoded(text, match.end())
        if value is not None:
            yield f":{match.group(0).strip()[:24]}", value


def _decoded(text: str, position: int) -> Any:
    try:
        return _decoder.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        return None


def _prices(value: Any, name: frozenset[str], where: str) -> Iterator[StatePrice]:
    pending: list[tuple[Any, str, str | None]] = [(value, where, None)]
    for _ in range(_MAX_NODES):
        if not pending:
            return
        node, path, inherited = pending.pop()
        if isinstance(node, dict):
            currency = _currency(node) or inherited
            if _has_name(node, name):
                yield from _own_price(node, path, currency)
            pending.extend(
                (one, f"{path}.{key}", currency) for key, one in node.items() if isinstance(one, (dict, list))
            )
        elif isinstance(node, list):
            pending.extend(
                (one, f"{path}[{index}]", inherited)
                for index, one in enumerate(node)
                if isinstance(one, (dict, list))
            )


def _own_price(node: dict[str, Any], path: str, currency: str | None) -> Iterator[StatePrice]:
    for key in _PRICES:
        raw = node.get(key)
        if isinstance(raw, dict):
            currency = _currency(raw) or currency
            raw = next(
                (raw[one] for one in ("value", "amount", "current", "price", "sale") if raw.get(one)), None
            )
        if raw is None or isinstance(raw, (dict, list, bool)):
            continue
        parsed = parse_machine_price(raw, currency)
        if parsed.amount:
            is_whole = parsed.amount == parsed.amount.to_integral_value() and "." not in str(raw)
            yield StatePrice(
                parsed.amount,
                parsed.currency or currency,
                f"{path}.{key}"[-120:],
                str(raw)[:40],
                only_confirms=is_whole or bool(parse_machine_price(node.get("discount"), currency).amount),
            )
            return


def _has_name(node: dict[str, Any], name: frozenset[str]) -> bool:
    for key in _NAMES:
        value = node.get(key)
        if isinstance(value, str) and 0 < len(value) < 400:
            own = name_words(value)
            shared = len(own & name)
            return bool(own) and shared >= _SIMILAR * max(1, len(name)) and shared >= _SIMILAR * len(own)
    return False


def _currency(node: dict[str, Any]) -> str | None:
    return next(
        (
            code
            for key in _CURRENCIES
            if isinstance(node.get(key), str) and (code := currency_code(node[key]))
        ),
        None,
    )
