"""The end of a paginated list: how a response indicates it, and how to search for the last page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

from pricewatch.vocabulary import PageOutcome

NOT_THERE = frozenset({404, 410})
_DIGITS = re.compile(r"[0-9]{1,18}")


class Answer(StrEnum):
    """What the response to a page request says about the list."""

    # Cards that no other page has.
    PAGE = "page"
    # Past the end, provided that page 1 and the last good page can be read.
    END = "end"
    # Nothing: the page may exist.
    TROUBLE = "trouble"


def judge_answer(number: int, outcome: PageOutcome, status: int | None = None) -> Answer:
    """Distinguish the end of a list from a failed request. Page 1 is never past the end."""
    if outcome is PageOutcome.OK:
        return Answer.PAGE
    not_there = outcome is PageOutcome.HTTP_ERROR and status in NOT_THERE
    past_end = not_there or outcome in (PageOutcome.EMPTY, PageOutcome.REPEATED)
    return Answer.END if past_end and number > 1 else Answer.TROUBLE


def is_redirected_away(requested: str, landed: str, first: str) -> bool:
    """Return whether a redirect led from a page of a list to another page, so that the page number is lost.

    A redirect to another spelling (https, a slash at the end, the number as a parameter) keeps the number.
    """
    if _same_address(requested, landed):
        return False
    if _same_address(first, landed):
        return True
    return bool((_numbers(requested) - _numbers(first)) - _numbers(landed))


def stays_in_list(requested: str, landed: str, homes: Iterable[str]) -> bool:
    """Return whether a redirect led to a page of the list, to its first page (`homes`) or to a parent path.

    A login page or a notice is none of these.
    """
    if _shape(requested) == _shape(landed):
        return True
    return any(_is_at_or_above(landed, home) for home in homes)


@dataclass(slots=True)
class EndSearch:
    """Binary search for the last page of a list, between a good page and a page past the end."""

    # Fingerprints of the content of the pages that were read and are not empty, including page 1.
    fingerprints: dict[int, int]
    # The last page that is known to be good, and the first that is known to be past the end.
    good: int
    edge: int
    # The number of pages that the list claims to have.
    guess: int | None = None

    @classmethod
    def begin(cls, fingerprints: dict[int, int], beyond: int, guess: int | None = None) -> EndSearch:
        """Start from the pages that were read and the number of a page past the end."""
        edge = beyond
        # Preceding pages with the same content may be past the end as well.
        while edge > 2 and edge - 1 in fingerprints and fingerprints[edge - 1] == fingerprints.get(edge):
            edge -= 1
        return cls(fingerprints, max(number for number in fingerprints if number < edge), edge, guess)

    @property
    def probe(self) -> int | None:
        """Return the page to read next; None once the end is found."""
        if self.edge - self.good <= 1:
            return None
        guess = self.guess
        return guess if guess is not None and self.good < guess < self.edge else (self.good + self.edge) // 2

    def note(self, number: int, fingerprint: int | None, *, has_next: bool) -> bool:
        """Record the fingerprint of a page, None if it is empty; return whether its content is new."""
        is_new = fingerprint is not None and fingerprint not in self.fingerprints.values()
        if fingerprint is not None:
            self.fingerprints[number] = fingerprint
        if is_new:
            self.good = number
            self.edge = self.edge if has_next else number + 1
        else:
            self.edge = number
        return is_new

    @property
    def last(self) -> int:
        """Return the last page, once the end is found.

        If all pages past the end have the same content and it is not the content of page 1, they repeat the
        last page: the first of them is the last page itself.
        """
        before = {fingerprint for number, fingerprint in self.fingerprints.items() if number <= self.good}
        return (
            self.edge
            if self.edge in self.fingerprints and self.fingerprints[self.edge] not in before
            else self.good
        )


def _parts(url: str) -> tuple[str, str, dict[str, str]]:
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return host, f"{parts.path.rstrip('/')}/", dict(parse_qsl(parts.query))


def _same_address(one: str, other: str) -> bool:
    return _parts(one) == _parts(other)


def _is_at_or_above(url: str, home: str) -> bool:
    host, path, query = _parts(url)
    home_host, home_path, home_query = _parts(home)
    if host != home_host or not home_path.startswith(path):
        return False
    # If all pages share one path, a parameter identifies the page.
    return all(value.isdigit() or home_query.get(name, value) == value for name, value in query.items())


def _shape(url: str) -> tuple[str, str, str]:
    """Return the parts of a URL with every number replaced by 0."""
    host, path, query = _parts(url)
    return host, _DIGITS.sub("0", path), _DIGITS.sub("0", repr(sorted(query.items())))


def _numbers(url: str) -> Counter[int]:
    parts = urlsplit(url)
    return Counter(int(digits) for digits in _DIGITS.findall(f"{parts.path}?{parts.query}"))
