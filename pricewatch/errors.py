"""Errors that are meant for people: one sentence that says what to do, no traceback."""

from __future__ import annotations


class UserError(Exception):
    """Something a person can put right; commands print it and exit with 2."""


class DatabaseUnavailable(UserError):
    """The database could not be reached, or not for long enough."""


class RunRefused(UserError):
    """A run that must not start: the same work is already under way, or a person has to act first."""
