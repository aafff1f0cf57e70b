"""Texts that a phrase of a table cannot match without, for a fast filter before the patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pricewatch.parsing.phrase_table import phrases

_TOKEN = re.compile(
    r"(?P<open>\((?:\?[:=!])?)|(?P<close>\))|(?P<bar>\|)|(?P<many>[?*]|\{0,\d*\})|(?P<class>\[[^\[\]]*+\]|\\[wdsb]|[.^$+])"
    r"|\\?(?P<letter>.)"
)


def stems(*tables: str) -> tuple[str, ...]:
    """Texts of which at least one is in each text that a phrase of the tables matches."""
    found = {
        stem for table in tables for group in phrases(table) for phrase in group for stem in stems_of(phrase)
    }
    return tuple(sorted(stem for stem in found if not any(one in stem for one in found if one != stem)))


def stems_of(phrase: str) -> set[str]:
    """The longest literal part of a phrase, or those of the alternatives of a group that it must contain."""
    tokens = [(match.lastgroup or "", match[0][-1:]) for match in _TOKEN.finditer(phrase)]
    choices = list(_choices(tokens))
    if not choices:
        raise ValueError(f"{phrase!r} has no literal part")
    return max(choices, key=lambda choice: min(map(_weight, choice)))


def _weight(text: str) -> int:
    """The length of a text that is required; one sign of a script without letters says as much as two."""
    return len(text.strip()) if text.isascii() else 2 * len(text.strip())


def _choices(tokens: list[tuple[str, str]]) -> Iterator[set[str]]:
    """Sets of texts, of each of which one is required; the tokens have no alternatives at their level."""
    run = ""
    index = 0
    while index < len(tokens):
        kind, letter = tokens[index]
        end = _end_of(tokens, index)
        is_optional = end < len(tokens) and tokens[end][0] == "many"
        if kind == "letter" and not is_optional:
            run += letter
        else:
            if run:
                yield {run}
            run = ""
            if kind == "open" and not is_optional and letter not in "=!":
                yield from _required_alternative(tokens[index + 1 : end - 1])
        index = end + is_optional
    if run:
        yield {run}


def _required_alternative(tokens: list[tuple[str, str]]) -> Iterable[set[str]]:
    best: set[str] = set()
    for part in _split_alternatives(tokens):
        choices = list(_choices(part))
        if not choices:
            return []
        best |= max(choices, key=lambda choice: min(map(_weight, choice)))
    return [best]


def _split_alternatives(tokens: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    parts: list[list[tuple[str, str]]] = [[]]
    depth = 0
    for kind, letter in tokens:
        depth += (kind == "open") - (kind == "close")
        if kind == "bar" and not depth:
            parts.append([])
        else:
            parts[-1].append((kind, letter))
    return parts


def _end_of(tokens: list[tuple[str, str]], start: int) -> int:
    """The index after a token, or after the group that it opens."""
    depth = 0
    for index in range(start, len(tokens)):
        kind = tokens[index][0]
        depth += (kind == "open") - (kind == "close")
        if not depth:
            return index + 1
    return len(tokens)
