"""The limits on requests: how long their bodies may be, and how long they may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pricewatch.errors import UserError
from pricewatch.vocabulary import AccessRole

MEGABYTE = 2**20
EGG_PATHS = frozenset({b"/addversion.json"})
CSV_PATHS = frozenset({b"/targets/import"})
# The options in scrapyd.conf; those that end with _mb are in megabytes.
OPTIONS = {
    "egg": "max_egg_mb",
    "csv": "max_csv_mb",
    "body": "max_body_mb",
    "request_seconds": "max_request_seconds",
    "stall_seconds": "max_stall_seconds",
    "connections_per_address": "max_connections_per_address",
    "connections": "max_connections",
}


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Sizes are in bytes."""

    egg: int = 64 * MEGABYTE
    csv: int = 20 * MEGABYTE
    # Of every other path; also how much is read before the login is checked.
    body: int = MEGABYTE
    # The time to send a body.
    request_seconds: float = 300.0
    # The time for which a client may take nothing of a response.
    stall_seconds: float = 60.0
    connections_per_address: int = 100
    # Well below 1,024, the usual limit of open files of a process.
    connections: int = 500

    @classmethod
    def from_config(cls, config: Any) -> RequestLimits:
        """Read the [scrapyd] section of scrapyd.conf."""
        return cls(
            **{name: _option(config, option, getattr(cls(), name)) for name, option in OPTIONS.items()}
        )

    def body_limit(self, path: bytes) -> int:
        if path in EGG_PATHS:
            return self.egg
        return self.csv if path in CSV_PATHS else self.body

    def upload_role(self, path: bytes) -> AccessRole:
        """The role that may send more than `body`; the request is checked again when it is complete."""
        return AccessRole.ADMIN if path in EGG_PATHS else AccessRole.OPERATE

    @property
    def csv_file(self) -> int:
        """The longest CSV file: the confirmation of an import sends it again, in base64."""
        return self.csv * 7 // 10


def _option(config: Any, option: str, default: float) -> Any:
    unit = MEGABYTE if option.endswith("_mb") else 1
    try:
        value = type(default)(config.getfloat(option, default / unit) * unit)
    except (ValueError, OverflowError):
        value = 0
    if not 0 < value < float("inf"):
        raise UserError(f"{option} in scrapyd.conf must be a number above 0. Example: {default / unit:g}")
    return value


def in_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:g} MB"
