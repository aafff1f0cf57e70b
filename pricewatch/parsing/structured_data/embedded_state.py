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
_MAX_ASSIGNMENTS = 200
_MAX_PATH = 120
_MAX_KEY = 60
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


def state_prices(root: Element, title: str, left_out: list[str]) -> list[StatePrice]:
    """The prices of objects whose name matches the title; says which scripts were `left_out` as too large."""
    name = name_words(title)
    found: list[StatePrice] = []
    budget = _Budget()
    for index, script in enumerate(root.iter("script")):
        text = script.text or ""
        if "rice" not in text or script.get("src"):
            continue
        where = f"script[{index}]"
        if len(text) > _MAX_SCRIPT_SIZE:
            left_out.append(f"{where} has more than {_MAX_SCRIPT_SIZE:,} characters")
            continue
        prices = [
            price
            for start, value in _values(script, text, budget)
            for price in _prices(value, name, f"{where}{start}", budget)
        ]
        if budget.is_spent:
            left_out.append(f"{where} and later scripts have too many objects or assignments")
            break
        found.extend(prices)
    return found


@dataclass(slots=True)
class _Budget:
    """What may be looked at in all scripts of a page."""

    nodes: int = _MAX_NODES
    assignments: int = _MAX_ASSIGNMENTS

    @property
    def is_spent(self) -> bool:
        return self.nodes < 0 or self.assignments < 0


def _values(script: Element, text: str, budget: _Budget) -> Iterator[tuple[str, Any]]:
    kind = (script.get("type") or "").partition(";")[0].strip().lower()
    if kind == "application/ld+json":
        return
    if kind == "application/json":
        value = _decoded(text, len(text) - len(text.lstrip()))
        if value is not None:
            yield f"#{script.get('id') or ''}", value
        return
    for match in _ASSIGNMENT.finditer(text):
        budget.assignments -= 1
        if budget.is_spent:
            return
        value = _decoded(text, match.end())
        if value is not None:
            yield f":{match.group(0).strip()[:24]}", value


def _decoded(text: str, position: int) -> Any:
    try:
        return _decoder.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        return None


def _prices(value: Any, name: frozenset[str], where: str, budget: _Budget) -> Iterator[StatePrice]:
    pending: list[tuple[Any, str, str | None]] = [(value, where, None)]
    while pending and not budget.is_spent:
        budget.nodes -= 1
        node, path, inherited = pending.pop()
        path = path[-_MAX_PATH:]
        if isinstance(node, dict):
            currency = _currency(node) or inherited
            if _has_name(node, name):
                yield from _own_price(node, path, currency)
            pending.extend(
                (one, f"{path}.{key[:_MAX_KEY]}", currency)
                for key, one in node.items()
                if isinstance(one, (dict, list))
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
                f"{path}.{key}"[-_MAX_PATH:],
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
