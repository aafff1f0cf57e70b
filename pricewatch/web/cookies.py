"""Cookies, read in linear time: the parser of Python takes quadratic time for quoted values."""

from __future__ import annotations

import re

# The message that the next page shows.
FLASH = "pricewatch_flash"
_VALUE = re.compile(r"[\w.~%+/=:@!*-]{1,4096}", re.ASCII)


def cookie_values(header: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return the cookies of these names; quoted and empty values are never ours."""
    found: dict[str, str] = {}
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name in names and _VALUE.fullmatch(value):
            found.setdefault(name, value)
    return found
