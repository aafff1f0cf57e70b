"""Cleaning text of pages, and comparing names."""

from __future__ import annotations

import html
import re
import unicodedata

# Zero-width characters: joiners, soft hyphens, direction marks. They may occur inside a number.
_ZERO_WIDTH = re.compile(
    r"[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]"
)
_COMBINING = re.compile(r"[\u0300-\u036f]")
# Includes lone surrogates, which truncated JSON contains and PostgreSQL rejects.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONG_REFERENCE = re.compile(r"&#\d{1000,}+;?")
# Python sorts the combining characters of a text in quadratic time, and no signal interrupts it.
_MAX_NAME_LENGTH = 1_000
# In scripts without spaces, each character is a word.
_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+")


def word_set(text: str) -> frozenset[str]:
    """The set of words in a text that is separated by spaces."""
    return frozenset(text.split())


def collapse_spaces(text: str) -> str:
    """Replace each run of whitespace by one space; strip the ends and zero-width characters."""
    if not text.isascii():
        text = _ZERO_WIDTH.sub("", text)
    return " ".join(text.split())


def clean(text: str) -> str:
    """Text that can be stored: entities resolved, control characters removed, spaces collapsed."""
    if "&" not in text and text.isprintable():
        return collapse_spaces(text)
    # Twice, because some shops escape names twice.
    return collapse_spaces(_CONTROL.sub("", unescape(unescape(text))))


def unescape(text: str) -> str:
    """Text with its entities resolved; Python refuses to convert a reference of thousands of digits."""
    return html.unescape(_LONG_REFERENCE.sub("\N{REPLACEMENT CHARACTER}", text))


def name_words(text: str) -> frozenset[str]:
    """The words of a name without case and accents, for comparison; of a long name, its beginning."""
    folded = clean(text[:_MAX_NAME_LENGTH]).casefold()
    if not folded.isascii():
        folded = _COMBINING.sub("", unicodedata.normalize("NFKD", folded))
    return frozenset(_WORD.findall(folded))


def name_overlap(one: str, other: str) -> float:
    """The share of the shorter name's words that the longer name contains, from 0 to 1."""
    first, second = name_words(one), name_words(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))
