"""Where a list ends: what an answer says about it, and how its last page is found."""

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
    """What the answer to a page says about the list."""

    # Cards that no other page has shown.
    PAGE = "page"
    # Beyond the end, provided that page 1 and the last good page can be read.
    END = "end"
    # Nothing: the page may well be there.
    TROUBLE = "trouble"


def judge_answer(number: int, outcome: PageOutcome, status: int | None = None) -> Answer:
    """Tell the end of a list from trouble on the way to a page. Page 1 is never beyond the end."""
    if outcome is PageOutcome.OK:
        return Answer.PAGE
    not_there = outcome is PageOutcome.HTTP_ERROR and status in NOT_THERE
    beyond = not_there or outcome in (PageOutcome.EMPTY, PageOutcome.REPEATED)
    return Answer.END if beyond and number > 1 else Answer.TROUBLE


def is_led_away(asked: str, landed: str, first: str) -> bool:
    """Whether a redirect led from a page of a list to another page: the page's number is lost on the way.

    A redirect to another spelling (https, a slash at the end, the number as a parameter) keeps the number.
    """
    if _same_address(asked, landed):
        return False
    if _same_address(first, landed):
        return True
    return bool((_numbers(asked) - _numbers(first)) - _numbers(landed))


def leads_back(asked: str, landed: str, homes: Iterable[str]) -> bool:
    """Whether a redirect led to another page of the list, to its first one (`homes`), or to what is above it.

    A login or a notice is neither.
    """
    if _shape(asked) == _shape(landed):
        return True
    return any(_is_at_or_above(landed, home) for home in homes)


@dataclass(slots=True)
class EndSearch:
    """The search for the last page of a list, by halves, between a good page and one beyond the end."""

    # A fingerprint of what each page shows, as far as it was read and shows anything; page 1 is among them.
    prints: dict[int, int]
    # The last page that is known to be good, and the first that is known to be beyond it.
    good: int
    edge: int
    # How many pages the list says it has.
    guess: int | None = None

    @classmethod
    def begin(cls, prints: dict[int, int], beyond: int, guess: int | None = None) -> EndSearch:
        """From the pages that were read, and the number of one that gave an answer from beyond the end."""
        edge = beyond
        # Pages right before it that show the same may be beyond the end as well.
        while edge > 2 and edge - 1 in prints and prints[edge - 1] == prints.get(edge):
            edge -= 1
        return cls(prints, max(number for number in prints if number < edge), edge, guess)

    @property
    def probe(self) -> int | None:
        """Which page to read next; None once the end is found."""
        if self.edge - self.good <= 1:
            return None
        guess = self.guess
        return guess if guess is not None and self.good < guess < self.edge else (self.good + self.edge) // 2

    def note(self, number: int, fingerprint: int | None, *, has_next: bool) -> bool:
        """Take in what a page shows, None if nothing; says whether it is a page that was not seen before."""
        is_new = fingerprint is not None and fingerprint not in self.prints.values()
        if fingerprint is not None:
            self.prints[number] = fingerprint
        if is_new:
            self.good = number
            self.edge = self.edge if has_next else number + 1
        else:
            self.edge = number
        return is_new

    @property
    def last(self) -> int:
        """The last page, once the end is found.

        Where all pages beyond the end show the same, and that is not the first page again, they repeat the
        last page: the first of them is that page itself.
        """
        before = {shown for number, shown in self.prints.items() if number <= self.good}
        return self.edge if self.edge in self.prints and self.prints[self.edge] not in before else self.good


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
    # Where all pages have one path, a parameter says which it is.
    return all(value.isdigit() or home_query.get(name, value) == value for name, value in query.items())


def _shape(url: str) -> tuple[str, str, str]:
    """An address without its numbers."""
    host, path, query = _parts(url)
    return host, _DIGITS.sub("0", path), _DIGITS.sub("0", repr(sorted(query.items())))


def _numbers(url: str) -> Counter[int]:
    parts = urlsplit(url)
    return Counter(int(digits) for digits in _DIGITS.findall(f"{parts.path}?{parts.query}"))
