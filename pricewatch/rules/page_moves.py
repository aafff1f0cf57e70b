"""Permanently moved pages: whether the new page shows the same product."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

PERMANENT = frozenset({301, 308})
# The fields of an offer that identify a product, with their labels in messages.
IDS = {"gtin": "GTIN", "sku": "SKU", "mpn": "MPN", "product_id": "platform id"}


def is_permanent(reasons: Sequence[object]) -> bool:
    """Return whether every redirect in the chain is permanent."""
    return bool(reasons) and all(reason in PERMANENT for reason in reasons)


def why_different_product(stored: Mapping[str, str | None], found: Mapping[str, str | None]) -> str | None:
    """Return None if at least one id matches and none differs, else why not; names are not compared."""
    same = False
    for name, label in IDS.items():
        before, now = stored.get(name), found.get(name)
        if not before or not now:
            continue
        if _normalized(name, before) != _normalized(name, now):
            return f"the new page has another {label}: {now} instead of {before}"
        same = True
    return None if same else "the new page has no id that is stored"


def _normalized(name: str, value: str) -> str:
    if name == "gtin":
        # The same GTIN may be written with 8, 12, 13 or 14 digits.
        return re.sub(r"\D", "", value).lstrip("0") or value
    return " ".join(value.split()).casefold()
