"""Settings that are words, because they switch off a protection: `yes` or `no`."""

from __future__ import annotations


def is_yes(value: object) -> bool:
    return value is True or value == "yes"


def is_yes_or_no(value: object) -> bool:
    return isinstance(value, bool) or value in ("yes", "no")
