"""Values as the database can carry them: scraped text may hold what no text column and no JSON takes."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def json_safe(value: Any) -> Any:
    """The same value for a JSON or text column: no NUL, no half characters, nothing but JSON's own types."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {json_safe(str(key)): json_safe(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        # Infinity and "not a number" are no JSON.
        return str(value)
    if isinstance(value, (int, float)) or value is None:
        return value
    return value.isoformat() if isinstance(value, datetime) else json_safe(str(value))
