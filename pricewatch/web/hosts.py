"""Host names and origins in request headers, which can contain anything."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:(?P<port>[0-9]{0,5}))?")
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_MAX_PORT = 65535


def host_name(header: str) -> str | None:
    """The name in a Host header, in lower case, without port; None if the header is malformed."""
    match = _HOST.fullmatch(header)
    if match is None or int(match["port"] or 0) > _MAX_PORT:
        return None
    return match["name"].lower().strip("[]").removesuffix(".") or None


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether no page of another site sent the request; header names must be in lower case."""
    if headers.get("sec-fetch-site", "") in _OTHER_SITES:
        return False
    origin = headers.get("origin")
    return origin is None or _is_on_host(origin, headers)


def is_linked_from_here(headers: Mapping[str, str]) -> bool:
    """Whether no page of another site links to the address or embeds it."""
    referer = headers.get("referer")
    return is_same_origin(headers) and (not referer or _is_on_host(referer, headers))


def _is_on_host(url: str, headers: Mapping[str, str]) -> bool:
    scheme, _, rest = url.partition("://")
    host = headers.get("host", "").lower()
    return scheme in ("http", "https") and bool(host) and rest.partition("/")[0].lower() == host
