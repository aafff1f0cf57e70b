"""The key that says that two offers of a source are the same listing."""

from __future__ import annotations

import hashlib

from pricewatch.parsing.text import clean

_LONGEST = 255


def identity_key(product_id: str | None, sku: str | None, canonical_url: str) -> str:
    """`PID:…`, else `SKU:…`, else `URL:…`; an id that cannot be a key falls through to the next kind."""
    for kind, value in (("PID", product_id), ("SKU", sku)):
        usable = _usable(value)
        if usable:
            return f"{kind}:{usable}"
    digest = hashlib.sha256(canonical_url.encode("utf-8", "replace")).hexdigest()
    return f"URL:{digest[:16]}"


def _usable(value: str | None) -> str | None:
    text = clean(value) if value else ""
    return text if text and ":" not in text and len(text) <= _LONGEST else None
