"""Plain text as pages write it: odd spaces, entities, and names that differ only in spelling."""

from __future__ import annotations

import html
import re
import unicodedata

# Every space a shop may put inside a price or a name, among them no-break, thin, figure and zero-width ones.
_SPACES = re.compile(r"[\s\u00a0\u1680\u180e\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WORD = re.compile(r"\w+")


def squash(text: str) -> str:
    """One plain space for any run of spaces, none at the ends."""
    return _SPACES.sub(" ", text).strip()


def clean(text: str) -> str:
    """Text fit to store: entities resolved, control and direction characters gone, spaces squashed."""
    # Twice, because shops escape names before a template escapes them again.
    return squash(_CONTROL.sub("", html.unescape(html.unescape(text))))


def words(text: str) -> frozenset[str]:
    """The words of a name without case and accents, to compare it with another spelling of itself."""
    folded = unicodedata.normalize("NFKD", clean(text).casefold())
    bare = "".join(ch for ch in folded if not unicodedata.combining(ch))
    return frozenset(_WORD.findall(bare))


def name_overlap(one: str, other: str) -> float:
    """Share of the shorter name's words that the longer one has, from 0 to 1."""
    first, second = words(one), words(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))
