"""Plain text as pages write it: odd spaces, entities, and names that differ only in spelling."""

from __future__ import annotations

import html
import re
import unicodedata

# Without width: joiners, soft hyphens, marks of direction. They may stand inside a number.
_ZERO_WIDTH = re.compile(
    r"[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]"
)
_COMBINING = re.compile(r"[\u0300-\u036f]")
# Half characters come from JSON that was cut in the middle of one: nothing can store them.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Scripts without spaces between words count character by character.
_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+")


def word_set(text: str) -> frozenset[str]:
    """A set of words, given as they would be read out."""
    return frozenset(text.split())


def squash(text: str) -> str:
    """One plain space for any run of spaces, be they no-break, thin or figure spaces; none at the ends."""
    if not text.isascii():
        text = _ZERO_WIDTH.sub("", text)
    return " ".join(text.split())


def clean(text: str) -> str:
    """Text fit to store: entities resolved, control and direction characters gone, spaces squashed."""
    if "&" not in text and text.isprintable():
        return squash(text)
    # Twice, because shops escape names before a template escapes them again.
    return squash(_CONTROL.sub("", html.unescape(html.unescape(text))))


def words(text: str) -> frozenset[str]:
    """The words of a name without case and accents, to compare it with another spelling of itself."""
    folded = clean(text).casefold()
    if not folded.isascii():
        folded = _COMBINING.sub("", unicodedata.normalize("NFKD", folded))
    return frozenset(_WORD.findall(folded))


def name_overlap(one: str, other: str) -> float:
    """Share of the shorter name's words that the longer one has, from 0 to 1."""
    first, second = words(one), words(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))
