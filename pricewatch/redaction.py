"""Keep secrets out of logs, and out of processes that do not need them.

Only the standard library: jobs load this file by its path, before anything of the project is imported.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

REPLACEMENT = "[hidden]"
# Shorter values would also hide ordinary words.
MIN_LENGTH = 6
SECRET_VARIABLE = re.compile(
    r"DATABASE_URL|REDIS_URL|PROXIES_\w+|(HTTPS?|FTP|ALL)_PROXY|PGPASSWORD|SCRAPYD_PASSWORD"
    r"|PRICEWATCH_(PASSWORD|SECRET|EGG_KEY|NOTIFY|NOTIFY_\w+)",
    re.IGNORECASE,
)
# The names of their users are ordinary words, such as "pricewatch".
_SERVERS = re.compile(r"DATABASE_URL|REDIS_URL", re.IGNORECASE)
_HOST_NAME = re.compile(r"localhost|[\d.]+|(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
_ADDRESSES = re.compile(r"PRICEWATCH_NOTIFY\w*", re.IGNORECASE)
_CREDENTIALS = re.compile(r"//([^/@\s,]+)@")
# Database drivers also accept passwords with a slash, and passwords in the query.
_LENIENT_CREDENTIALS = re.compile(r"//([^:/@\s,]*:[^@\s,]*|[^/@\s,]+)@")
_QUERY_PASSWORD = re.compile(r"[?&][^=&\s]*pass[^=&\s]*=([^&\s,]+)", re.IGNORECASE)


class Redactor:
    """Replaces secret values in text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= MIN_LENGTH}
        # The longest first: one secret may be part of another.
        parts = sorted(map(re.escape, known), key=len, reverse=True)
        self._pattern = re.compile("|".join(parts)) if parts else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(REPLACEMENT, text) if self._pattern else text


def holds_secret(name: str, value: str) -> bool:
    """Whether a value has credentials in it: those of a URL, or of a variable that holds a secret."""
    return bool(_CREDENTIALS.search(value) or (value and SECRET_VARIABLE.fullmatch(name)))


def without_secrets(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for a process that needs no secret."""
    return {name: value for name, value in environment.items() if not SECRET_VARIABLE.fullmatch(name)}


def secrets_in(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the secret parts of the variables that hold secrets: of a URL, only its credentials."""
    for name, value in environment.items():
        if not SECRET_VARIABLE.fullmatch(name):
            continue
        if _ADDRESSES.fullmatch(name):
            for address in re.split(r"[\s,]+", value):
                yield from _address_parts(address)
        elif "://" in value or "@" in value:
            for credentials in _LENIENT_CREDENTIALS.findall(value if "://" in value else f"//{value}"):
                yield from forms_of(credentials, is_name_secret=not _SERVERS.fullmatch(name))
            for password in _QUERY_PASSWORD.findall(value):
                yield from (password, unquote(password))
        else:
            yield from (value, unquote(value))


def _address_parts(address: str) -> Iterator[str]:
    """Yield the parts of a notification address: tokens can be anywhere but in its scheme and a host name."""
    for part in re.split(r"[/:@?&=]+", address.rpartition("://")[2]):
        if not _HOST_NAME.fullmatch(part):
            yield part


def forms_of(credentials: str, *, is_name_secret: bool = True) -> Iterator[str]:
    """Yield the forms in which `user:password` of a URL can appear in text."""
    user, _, password = unquote(credentials).partition(":")
    yield credentials
    yield base64.b64encode(f"{user}:{password}".encode()).decode()
    names = (credentials.partition(":")[0], user) if is_name_secret or not password else ()
    yield from (credentials.partition(":")[2], password, *names)
