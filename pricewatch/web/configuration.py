"""The configuration of the web interface, read from environment variables."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pricewatch.errors import UserError
from pricewatch.rules.access.addresses import IPNetwork
from pricewatch.rules.access.client_address import parse_networks
from pricewatch.services.logins import DEFAULT_LIMITS, SessionLimits
from pricewatch.web.server.request_limits import RequestLimits

MAX_SESSION_NUMBER = 10_000


@dataclass(frozen=True, slots=True)
class Configuration:
    """Without a password, every user of this machine has full access, and nobody else has any."""

    username: str = ""
    password: str = ""
    # Behind an HTTPS proxy, browsers must not send cookies over plain HTTP.
    secure_cookies: bool = False
    # The address of the web interface, for links in messages.
    public_url: str = ""
    # The number of previews that may be fetched at the same time.
    previews: int = 2
    limits: RequestLimits = field(default_factory=RequestLimits)
    # Host names beside those of this machine that are answered without a login.
    allowed_hosts: frozenset[str] = frozenset()
    # Reverse proxies whose X-Forwarded-For header is believed.
    trusted_proxies: tuple[IPNetwork, ...] = ()
    sessions: SessionLimits = DEFAULT_LIMITS

    @property
    def is_open(self) -> bool:
        return not self.password

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str] = os.environ,
        *,
        username: str = "",
        password: str = "",
        limits: RequestLimits | None = None,
        allowed_hosts: frozenset[str] = frozenset(),
    ) -> Configuration:
        """Read the environment; a name and password of the daemon's configuration take precedence."""
        public_url = environment.get("PRICEWATCH_URL", "").rstrip("/")
        username = username or environment.get("PRICEWATCH_USER", "")
        password = password or environment.get("PRICEWATCH_PASSWORD", "")
        if bool(username) != bool(password):
            raise UserError("Set both PRICEWATCH_USER and PRICEWATCH_PASSWORD, or neither.")
        return cls(
            username,
            password,
            public_url.startswith("https://"),
            public_url,
            limits=limits or RequestLimits(),
            allowed_hosts=allowed_hosts,
            trusted_proxies=parse_networks(environment.get("PRICEWATCH_TRUSTED_PROXIES", "")),
            sessions=SessionLimits(
                timedelta(hours=_number(environment, "PRICEWATCH_SESSION_HOURS", 12)),
                timedelta(minutes=_number(environment, "PRICEWATCH_SESSION_IDLE_MINUTES", 30)),
            ),
        )


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MAX_SESSION_NUMBER:
        raise UserError(f"{name} is {text[:40]!r}. Expected: a number over 0, such as {default}.")
    return value


def is_loopback(address: str) -> bool:
    name = address.strip("[]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def check_address(address: str, configuration: Configuration) -> None:
    """Refuse to listen on an address that other machines can reach while no password is set."""
    if configuration.is_open and not is_loopback(address):
        raise UserError(
            f"pricewatch does not listen on {address or 'all addresses'} without a login: "
            "set PRICEWATCH_USER and PRICEWATCH_PASSWORD, or listen on 127.0.0.1."
        )
