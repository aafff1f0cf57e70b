"""Proxies: how settings configure them, their names, and which statuses block one."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

STRATEGIES = {"datacenter": "PROXIES_DATACENTER", "residential": "PROXIES_RESIDENTIAL"}
# The proxy, or the site through it, refused the request: another proxy may succeed.
BLAMED_STATUS = frozenset({403, 407, 429, 502, 504})


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. Only `name` may be displayed; `authorization` is only ever sent to the proxy."""

    name: str
    url: str
    authorization: bytes | None = None

    def __repr__(self) -> str:
        return f"Proxy({self.name})"


def parse_proxies(configured: str | Iterable[str]) -> list[Proxy]:
    """Parse proxies from a list, or from text separated by commas or spaces, in a stable order."""
    texts = re.split(r"[\s,]+", configured) if isinstance(configured, str) else configured
    proxies: list[Proxy] = []
    for text in sorted({text.strip() for text in texts} - {""}):
        parts = urlsplit(text if "://" in text else f"http://{text}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("Not a proxy. Example: http://user:password@host:port")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        name = f"{host}:{port}"
        same = sum(1 for proxy in proxies if proxy.name.partition("#")[0] == name)
        # Several accounts on one gateway are separate proxies; their names must not reveal the accounts.
        display_name = f"{name}#{same + 1}" if same else name
        proxies.append(
            Proxy(display_name, f"{parts.scheme}://{name}", _authorization(parts.username, parts.password))
        )
    return proxies


def all_proxies(settings: Mapping[str, Any]) -> list[str]:
    return [proxy.url for name in STRATEGIES.values() for proxy in parse_proxies(settings.get(name) or ())]


def _authorization(user: str | None, password: str | None) -> bytes | None:
    if not user:
        return None
    return b"Basic " + base64.b64encode(f"{unquote(user)}:{unquote(password or '')}".encode())
