"""Make scraped values storable: remove what text and JSON columns cannot hold."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def json_safe(value: Any) -> Any:
    """Return the value without NUL characters and lone surrogates, converted to the types of JSON."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {json_safe(str(key)): json_safe(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        # JSON has no infinity and no NaN.
        return str(value)
    if isinstance(value, (int, float)) or value is None:
        return value
    return value.isoformat() if isinstance(value, datetime) else json_safe(str(value))
