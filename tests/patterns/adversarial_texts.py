"""Texts that make a regular expression slow, built from its own pieces.

For each repetition: what leads to it, what it repeats, and what should follow but does not. Of the characters
that a class accepts, those that mean something elsewhere in the expression are chosen first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, product
from re import _constants as codes
from re import _parser as parser
from typing import Any

MAX_SAMPLES = 6
MAX_BRANCHES = 24
MAX_LETTERS = 10
MAX_TEXTS = 120
# Fewer repetitions are a constant factor.
LEAST_REPEATS = 32
# No expression expects it.
END = "\x01"
_OTHERS = " a0\n\"'<\\-.,/!é"
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
Node = tuple[Any, Any]
# One text is a start, a part that is repeated up to the length, and an end.
Text = tuple[str, str, str]


def adversarial_texts(pattern: re.Pattern[Any]) -> list[Text]:
    source = pattern.pattern
    tree = parser.parse(source, pattern.flags)
    return list(dict.fromkeys(_Texts(tree).texts()))[:MAX_TEXTS]


def build(text: Text, length: int) -> str:
    start, part, end = text
    return (start + part * (max(0, length - len(start)) // len(part) + 1))[:length] + end


class _Texts:
    def __init__(self, tree: Any) -> None:
        self._tree = list(tree)
        literals = list(dict.fromkeys(_literals(self._tree)))
        self.letters = list(dict.fromkeys([*literals[:MAX_LETTERS], *_OTHERS]))

    def texts(self) -> Iterator[Text]:
        wholes = self.samples(self._tree)
        for letter in self.letters:
            yield "", letter, END
        for before, repeated, after in self._repeats(self._tree, ""):
            for part, rest in product(repeated[:MAX_SAMPLES], ("", after[:-1], after)):
                if part:
                    yield before, part, END
                    yield "", before + part + rest, END
                    yield before, part + rest, END
            if before:
                yield "", before, END
        for whole in wholes:
            for part in (whole, whole[:-1], whole[: len(whole) // 2]):
                if part:
                    yield "", part, END
                    yield "", part, ""
        for one, other in product(self.letters[:MAX_LETTERS], repeat=2):
            yield "", one + other, END

    def _repeats(self, nodes: Sequence[Node], before: str) -> Iterator[tuple[str, list[str], str]]:
        """Yield each long repetition: a text that leads to it, texts that it repeats, one that follows it."""
        for index, (code, value) in enumerate(nodes):
            lead = before + self.samples(nodes[:index])[0]
            if code in _REPEATS and value[1] > LEAST_REPEATS:
                yield lead, self.samples(value[2]), self.samples(nodes[index + 1 :])[0]
            for inner in _inner(code, value):
                yield from self._repeats(inner, lead)

    def samples(self, nodes: Sequence[Node]) -> list[str]:
        """Return texts that the nodes match, one at least."""
        each = [self._node_samples(code, value) for code, value in nodes]
        count = min(MAX_SAMPLES, max((len(options) for options in each), default=1))
        return ["".join(options[number % len(options)] for options in each) for number in range(count)]

    def _node_samples(self, code: Any, value: Any) -> list[str]:
        if code is codes.LITERAL:
            return [chr(value)]
        if code in (codes.IN, codes.NOT_LITERAL, codes.ANY, codes.RANGE, codes.CATEGORY):
            accepted = [letter for letter in self.letters if _accepts(code, value, letter)]
            return accepted[:MAX_SAMPLES] or [_first_of(code, value)]
        if code is codes.BRANCH:
            branches = value[1][:: max(1, len(value[1]) // MAX_BRANCHES)]
            return list(chain.from_iterable(self.samples(branch)[:2] for branch in branches))
        if code in _REPEATS:
            least, _, inner = value
            once = [text * max(1, least) for text in self.samples(inner)]
            return once if least else [*once[:2], ""]
        if code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            return self.samples(_inner(code, value)[0])
        return [""]


def _inner(code: Any, value: Any) -> list[Sequence[Node]]:
    """Return the sequences of nodes inside a node."""
    if code is codes.BRANCH:
        return [list(branch) for branch in value[1]]
    if code is codes.SUBPATTERN:
        return [list(value[3])]
    if code is codes.ATOMIC_GROUP:
        return [list(value)]
    if code in _REPEATS:
        return [list(value[2])]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [list(value[1])]
    return []


def _literals(nodes: Sequence[Node]) -> Iterator[str]:
    for code, value in nodes:
        if code in (codes.LITERAL, codes.NOT_LITERAL):
            yield chr(value)
        if code is codes.IN:
            yield from (chr(each) for kind, each in value if kind is codes.LITERAL)
        for inner in _inner(code, value):
            yield from _literals(inner)


def _accepts(code: Any, value: Any, letter: str) -> bool:
    if code is codes.IN:
        negated = value[0][0] is codes.NEGATE
        return any(_accepts(kind, each, letter) for kind, each in value[negated:]) != negated
    if code is codes.CATEGORY:
        return re.fullmatch(_CATEGORIES[value], letter) is not None
    if code is codes.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    return (
        (ord(letter) == value) if code is codes.LITERAL else bool(code is codes.ANY or ord(letter) != value)
    )


def _first_of(code: Any, value: Any) -> str:
    """Return any character of a class that has none of the common ones."""
    if code is codes.RANGE:
        return chr(value[0])
    return next(
        (
            chr(each[0] if kind is codes.RANGE else each)
            for kind, each in value
            if kind in (codes.RANGE, codes.LITERAL)
        ),
        "",
    )
