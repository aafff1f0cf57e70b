"""Reads JSON that a person wrote: every mistake becomes one sentence."""

import base64
import binascii
import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from pricewatch.bazaar.messages import TOKEN


class BadInput(Exception):
    """What was sent cannot be used; the message is a sentence that says why."""


class Fields:
    """A JSON object whose fields are taken one by one; `done` refuses those nobody asked for."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = dict(values)

    @classmethod
    def read(cls, body: bytes) -> "Fields":
        """Parse a request body."""
        try:
            values = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"The body is not JSON: {error}.") from error
        if not isinstance(values, dict):
            raise BadInput("The body must be a JSON object.")
        return cls(values)

    def has(self, name: str) -> bool:
        """Tell whether the field is there and not null."""
        return self._values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Take a string."""
        value = self._take(name, default)
        if not isinstance(value, str):
            raise BadInput(f"{name} must be a string.")
        return value

    def choice(self, name: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """Take one of a few words."""
        value = self._take(name, default)
        if value not in allowed:
            raise BadInput(f"{name} must be one of {', '.join(allowed)}.")
        return str(value)

    def number(self, name: str, default: float | None = None, low: float = -math.inf) -> float:
        """Take a finite number of at least `low`."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < math.inf:
            raise BadInput(
                f"{name} must be a number" + (f" of at least {low:g}." if low > -math.inf else ".")
            )
        return float(value)

    def whole(self, name: str, default: int | None = None, low: int = 0, high: int = 2**40) -> int:
        """Take a whole number between two others."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise BadInput(f"{name} must be a whole number from {low} to {high}.")
        return value

    def maybe_whole(self, name: str) -> int | None:
        """Take a whole number, or None where the field is missing or null."""
        return self.whole(name) if self.has(name) else None

    def flag(self, name: str, default: bool = False) -> bool:
        """Take true or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise BadInput(f"{name} must be true or false.")
        return value

    def pattern(self, name: str, default: str) -> re.Pattern[str]:
        """Take a regular expression."""
        try:
            return re.compile(self.text(name, default))
        except re.error as error:
            raise BadInput(f"{name} is not a regular expression: {error}.") from error

    def moment(self, name: str) -> datetime:
        """Take a date with its time zone; without one it is UTC."""
        try:
            moment = datetime.fromisoformat(self.text(name))
        except ValueError as error:
            raise BadInput(f"{name} must be a date in ISO 8601.") from error
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def texts(self, name: str) -> list[str]:
        """Take a list of strings; none where the field is missing."""
        value = self._take(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadInput(f"{name} must be a list of strings.")
        return value

    def part(self, name: str) -> "Fields":
        """Take an object inside this one."""
        value = self._take(name, None)
        if not isinstance(value, dict):
            raise BadInput(f"{name} must be an object.")
        return Fields(value)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Take `headers`: an object of strings that cannot break out of their line."""
        value = self._take("headers", {})
        if not isinstance(value, dict):
            raise BadInput("headers must be an object.")
        for name, text in value.items():
            if not TOKEN.fullmatch(name) or not isinstance(text, str) or re.search(r"[\r\n\0]", text):
                raise BadInput(f"The header {name!r} is not one that can be sent.")
        return tuple(value.items())

    def body(self, default: bytes = b"") -> bytes:
        """Take `body` or `body_base64`."""
        if self.has("body_base64"):
            try:
                return base64.b64decode(self.text("body_base64"), validate=True)
            except binascii.Error as error:
                raise BadInput(f"body_base64 is not base64: {error}.") from error
        return self.text("body").encode() if self.has("body") else default

    def done(self) -> None:
        """Refuse what is left over, but for nulls: a misspelt field must not pass silently."""
        left = sorted(name for name, value in self._values.items() if value is not None)
        if left:
            raise BadInput(f"Not understood: {', '.join(left)}.")

    def _take(self, name: str, default: Any) -> Any:
        value = self._values.pop(name, None)
        if value is None:
            value = default
        if value is None:
            raise BadInput(f"{name} is missing.")
        return value
