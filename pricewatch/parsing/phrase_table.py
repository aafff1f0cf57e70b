"""Patterns from tables of phrases: one row for each language, phrases separated by semicolons."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

# Scripts without spaces between words, with endings that join words (Korean), or with vowel signs that
# are no letters for a pattern (Hindi, Thai); the row `*` has phrases that start or end with a sign.
_WITHOUT_WORD_BOUNDARIES = frozenset({"ja", "zh", "ko", "th", "hi", "*"})
_QUANTIFIERS = "?*+{"


def phrases(table: str) -> tuple[list[str], list[str]]:
    """The phrases of a table: those between word boundaries, and those that may be inside a word."""
    bounded: list[str] = []
    unbounded: list[str] = []
    for row in table.strip().splitlines():
        language, _, text = row.partition(":")
        target = bounded if _WITHOUT_WORD_BOUNDARIES.isdisjoint(language.split()) else unbounded
        target.extend(phrase for part in text.split(";") if (phrase := part.strip()))
    return bounded, unbounded


def phrase_expression(table: str) -> str:
    """A regular expression for any phrase of a table; the phrases are expressions in lower case."""
    bounded, unbounded = phrases(table)
    parts = [rf"\b(?:{_grouped(bounded)})(?!\w)"] if bounded else []
    if unbounded:
        parts.append(_grouped(unbounded))
    return "|".join(parts)


def alternatives(table: str) -> str:
    """The phrases of a table as alternatives without word boundaries, to be part of an expression."""
    return "|".join(dict.fromkeys(phrase for group in phrases(table) for phrase in group))


class PhrasePattern:
    """Finds any phrase of a table in a lower-case text; compiled at the first use, to start quickly."""

    def __init__(self, table: str, *, prefix: str = "", suffix: str = "") -> None:
        self.table = table
        self._prefix = prefix
        self._suffix = suffix

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"{self._prefix}(?:{phrase_expression(self.table)}){self._suffix}")

    def search(self, text: str) -> re.Match[str] | None:
        """The first phrase in a text."""
        return self._pattern.search(text)

    def without(self, text: str) -> str:
        """The text without its phrases."""
        return self._pattern.sub(" ", text)


def _grouped(expressions: list[str]) -> str:
    """The alternatives with those of one first letter together, so that few are tried at a place."""
    groups: dict[str, list[str]] = defaultdict(list)
    others: list[str] = []
    for expression in dict.fromkeys(expressions):
        first, following = expression[0], expression[1:2]
        if first.isalnum() and (not following or following not in _QUANTIFIERS):
            groups[first].append(expression[1:])
        else:
            others.append(expression)
    starts = "".join(groups)
    parts = [f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items()]
    # One look at the next letter excludes all groups.
    return "|".join([rf"(?=[{starts}])(?:{'|'.join(parts)})", *others] if parts else others)
