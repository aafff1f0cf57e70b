"""The key that identifies a listing within its source."""

from __future__ import annotations

import hashlib

from pricewatch.parsing.text import clean

_MAX_LENGTH = 255


def identity_key(product_id: str | None, sku: str | None, canonical_url: str) -> str:
    """`PID:…`, or else `SKU:…`, or else `URL:…`; skips ids that are not valid in a key."""
    for kind, value in (("PID", product_id), ("SKU", sku)):
        valid = _valid(value)
        if valid:
            return f"{kind}:{valid}"
    digest = hashlib.sha256(canonical_url.encode("utf-8", "replace")).hexdigest()
    return f"URL:{digest[:16]}"


def _valid(value: str | None) -> str | None:
    text = clean(value) if value else ""
    return text if text and ":" not in text and len(text) <= _MAX_LENGTH else None
