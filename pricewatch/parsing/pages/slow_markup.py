"""Markup for which the parser takes more time than in proportion to its length."""

from __future__ import annotations

# libxml2 appends an attribute by walking over all those that the element has: 20,000 attributes take half a
# second, and 200,000, which fit into 1 MB, a minute.
MAX_ATTRIBUTES = 20_000
# What can end an attribute; NUL characters are removed before a page is parsed, and are every other byte of
# UTF-16.
_TO_SPACES = bytes.maketrans(b"/\"'\0", b"    ")


def is_slow_to_parse(body: bytes) -> bool:
    """Whether a page is long enough for an element with so many attributes that parsing it takes long.

    No element has more attributes than the page has words. To look for such an element, one would have to
    find the same tags as the parser, and a page can be made to differ.
    """
    words = body.translate(_TO_SPACES).split(None, MAX_ATTRIBUTES)
    return len(words) > MAX_ATTRIBUTES
