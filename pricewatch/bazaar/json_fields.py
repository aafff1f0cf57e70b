"""Validate JSON input field by field, with error messages for people."""

import base64
import binascii
import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from pricewatch.bazaar.http_messages import TOKEN


class BadInput(Exception):
    """The input is invalid; the message says why."""


class JsonFields:
    """A JSON object whose fields are read one by one; `refuse_unknown` rejects the rest."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = dict(values)

    @classmethod
    def read(cls, body: bytes) -> "JsonFields":
        """Parse a request body."""
        try:
            values = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"The body is not JSON: {error}.") from error
        if not isinstance(values, dict):
            raise BadInput("The body must be a JSON object.")
        return cls(values)

    def has(self, name: str) -> bool:
        """Return whether the field is present and not null."""
        return self._values.get(name) is not None

    def string(self, name: str, default: str | None = None) -> str:
        """Read a string."""
        value = self._take(name, default)
        if not isinstance(value, str):
            raise BadInput(f"{name} must be a string.")
        return value

    def choice(self, name: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """Read one of the allowed strings."""
        value = self._take(name, default)
        if value not in allowed:
            raise BadInput(f"{name} must be one of {', '.join(allowed)}.")
        return str(value)

    def number(self, name: str, default: float | None = None, low: float = -math.inf) -> float:
        """Read a finite number of at least `low`."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < math.inf:
            raise BadInput(
                f"{name} must be a number" + (f" of at least {low:g}." if low > -math.inf else ".")
            )
        return float(value)

    def integer(self, name: str, default: int | None = None, low: int = 0, high: int = 2**40) -> int:
        """Read an integer from `low` to `high`."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise BadInput(f"{name} must be a whole number from {low} to {high}.")
        return value

    def optional_integer(self, name: str) -> int | None:
        """Read an integer; None if the field is missing or null."""
        return self.integer(name) if self.has(name) else None

    def boolean(self, name: str, default: bool = False) -> bool:
        """Read true or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise BadInput(f"{name} must be true or false.")
        return value

    def pattern(self, name: str, default: str) -> re.Pattern[str]:
        """Read a regular expression."""
        try:
            return re.compile(self.string(name, default))
        except re.error as error:
            raise BadInput(f"{name} is not a regular expression: {error}.") from error

    def date_time(self, name: str) -> datetime:
        """Read a date and time; UTC if no time zone is given."""
        try:
            moment = datetime.fromisoformat(self.string(name))
        except ValueError as error:
            raise BadInput(f"{name} must be a date in ISO 8601.") from error
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def strings(self, name: str) -> list[str]:
        """Read a list of strings; empty if the field is missing."""
        value = self._take(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadInput(f"{name} must be a list of strings.")
        return value

    def nested(self, name: str) -> "JsonFields":
        """Read a nested object."""
        value = self._take(name, None)
        if not isinstance(value, dict):
            raise BadInput(f"{name} must be an object.")
        return JsonFields(value)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Read `headers`: an object of strings without line breaks."""
        value = self._take("headers", {})
        if not isinstance(value, dict):
            raise BadInput("headers must be an object.")
        for name, text in value.items():
            if not TOKEN.fullmatch(name) or not isinstance(text, str) or re.search(r"[\r\n\0]", text):
                raise BadInput(f"The header {name!r} cannot be sent.")
        return tuple(value.items())

    def body(self, default: bytes = b"") -> bytes:
        """Read `body` or `body_base64`."""
        if self.has("body_base64"):
            try:
                return base64.b64decode(self.string("body_base64"), validate=True)
            except binascii.Error as error:
                raise BadInput(f"body_base64 is not base64: {error}.") from error
        return self.string("body").encode() if self.has("body") else default

    def refuse_unknown(self) -> None:
        """Reject fields that were not read, except nulls, so that misspelt names are noticed."""
        unknown = sorted(name for name, value in self._values.items() if value is not None)
        if unknown:
            raise BadInput(f"Unknown fields: {', '.join(unknown)}.")

    def _take(self, name: str, default: Any) -> Any:
        value = self._values.pop(name, None)
        if value is None:
            value = default
        if value is None:
            raise BadInput(f"{name} is missing.")
        return value
