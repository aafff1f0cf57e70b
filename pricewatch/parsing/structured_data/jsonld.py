"""Tolerant decoding of JSON-LD: comments, wrappers, trailing commas and escaped quotes."""

from __future__ import annotations

import html
import json
import re
from typing import Any

_WRAPPERS = re.compile(
    r"^\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[\s*(?:\*/)?)|(?:(?://|/\*)?\s*\]\]>\s*(?:\*/)?|"
    r"(?://\s*)?-->)\s*;?\s*$"
)
_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n\r]*|/\*.*?\*/|<!--.*?-->', re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SEPARATORS = re.compile(r"[\s;,]*")

_decoder = json.JSONDecoder(strict=False)


def is_jsonld_type(script_type: str | None) -> bool:
    """Whether a script's type is JSON-LD; ignores case and parameters."""
    return bool(script_type) and str(script_type).partition(";")[0].strip().lower() == "application/ld+json"


def decode_jsonld(text: str) -> list[Any]:
    """All JSON values in the text of a script; empty if it cannot be decoded."""
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        pass
    bare = _CONTROL.sub(" ", _WRAPPERS.sub("", _WRAPPERS.sub("", text)))
    for attempt in (bare, _without_comments(bare), html.unescape(bare) if "&quot;" in bare else ""):
        values = _concatenated(attempt)
        if values:
            return values
    return []


def _without_comments(text: str) -> str:
    uncommented = _STRING_OR_COMMENT.sub(lambda match: match.group(1) or " ", text)
    return _STRING_OR_TRAILING_COMMA.sub(lambda match: match.group(1) or " ", uncommented)


def _concatenated(text: str) -> list[Any]:
    """The objects and arrays of concatenated JSON; stops at the first error."""
    values: list[Any] = []
    position = _skip(text, 0)
    while position < len(text):
        try:
            value, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        if isinstance(value, (dict, list)):
            values.append(value)
        position = _skip(text, position)
    return values


def _skip(text: str, position: int) -> int:
    match = _SEPARATORS.match(text, position)
    return match.end() if match else position
