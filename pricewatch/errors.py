"""Errors for users: one sentence that says what to do, without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """An error that the user can fix; commands print it and exit with status 2."""


class DatabaseUnavailable(UserError):
    """The database was unreachable for longer than the retry period."""


class RunRefused(UserError):
    """A run must not start: the same work is already running, or a person has to act first."""
