"""A page that moved for good: whether what it shows now is the product that it showed before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

PERMANENT = frozenset({301, 308})
# What names a product, by the words of an offer, and what people call it.
IDS = {"gtin": "GTIN", "sku": "SKU", "mpn": "MPN", "product_id": "platform id"}


def is_permanent(reasons: Sequence[object]) -> bool:
    """Whether every redirect on the way was meant to last."""
    return bool(reasons) and all(reason in PERMANENT for reason in reasons)


def why_another_product(stored: Mapping[str, str | None], shown: Mapping[str, str | None]) -> str | None:
    """None where at least one id is the same and none is another; a similar name is not enough."""
    same = False
    for name, word in IDS.items():
        before, now = stored.get(name), shown.get(name)
        if not before or not now:
            continue
        if _plain(name, before) != _plain(name, now):
            return f"the page that it led to shows another {word}: {now} instead of {before}"
        same = True
    return None if same else "the page that it led to shows no id that is stored"


def _plain(name: str, value: str) -> str:
    if name == "gtin":
        # The same number is written with 8, 12, 13 or 14 digits.
        return re.sub(r"\D", "", value).lstrip("0") or value
    return " ".join(value.split()).casefold()
