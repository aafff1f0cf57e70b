"""Tolerant decoding of JSON-LD: comments, wrappers, trailing commas and escaped quotes."""

from __future__ import annotations

import json
import re
from typing import Any

from pricewatch.parsing.structured_data.block_limits import check_length, check_nodes
from pricewatch.parsing.text import unescape

_NAME = "a JSON-LD block"
_OPENING = re.compile(r"\s*+(?:<!--|(?://|/\*)?\s*+<!\[CDATA\[\s*+(?:\*/)?)")
# A string or comment without an end lasts until the end of the text, so that each character is read once.
_STRING = r'"(?:\\.|[^"\\])*+"?'
_STRING_OR_COMMENT = re.compile(
    rf"({_STRING})|//[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|<!--(?:[^-]|-(?!->))*+(?:-->)?", re.DOTALL
)
_STRING_OR_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SEPARATORS = re.compile(r"[\s;,]*")

_decoder = json.JSONDecoder(strict=False)


def is_jsonld_type(script_type: str | None) -> bool:
    """Whether a script's type is JSON-LD; ignores case and parameters."""
    return bool(script_type) and str(script_type).partition(";")[0].strip().lower() == "application/ld+json"


def decode_jsonld(text: str) -> list[Any]:
    """All JSON values in the text of a script; empty if it cannot be decoded. Raises BlockTooLarge."""
    check_length(text, _NAME)
    values = _decoded(text)
    check_nodes(values, text, _NAME)
    return values


def _decoded(text: str) -> list[Any]:
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        pass
    bare = _CONTROL.sub(" ", _unwrapped(_unwrapped(text)))
    for attempt in (bare, _without_comments(bare), unescape(bare) if "&quot;" in bare else ""):
        values = _concatenated(attempt)
        if values:
            return values
    return []


def _unwrapped(text: str) -> str:
    """The text without the comment or CDATA section around it."""
    opening = _OPENING.match(text)
    return _without_closing(text[opening.end() :] if opening else text)


def _without_closing(text: str) -> str:
    end = text.rstrip().removesuffix(";").rstrip()
    if end.endswith("-->"):
        return end[:-3].rstrip().removesuffix("//")
    end = end.removesuffix("*/").rstrip()
    return end[:-3].rstrip().removesuffix("//").removesuffix("/*") if end.endswith("]]>") else text


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
