"""How the web interface is set up: everything from the environment, secrets only from there."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass

from pricewatch.errors import UserError


@dataclass(frozen=True, slots=True)
class Configuration:
    """Without a password everybody on this machine may do everything, and nobody else may do anything."""

    username: str = ""
    password: str = ""
    # Behind a proxy that speaks https, cookies must not travel otherwise.
    secure_cookies: bool = False
    # Where people reach it, for links in messages.
    public_url: str = ""
    # How many preview fetches may be under way at once.
    previews: int = 2

    @property
    def is_open(self) -> bool:
        return not self.password

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, *, username: str = "", password: str = ""
    ) -> Configuration:
        """A name and password that are given, as the daemon's configuration may, count before others."""
        public_url = environment.get("PRICEWATCH_URL", "").rstrip("/")
        username = username or environment.get("PRICEWATCH_USER", "")
        password = password or environment.get("PRICEWATCH_PASSWORD", "")
        if bool(username) != bool(password):
            raise UserError("Set both PRICEWATCH_USER and PRICEWATCH_PASSWORD, or neither.")
        return cls(username, password, public_url.startswith("https://"), public_url)


def is_loopback(address: str) -> bool:
    name = address.strip("[]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def check_address(address: str, configuration: Configuration) -> None:
    """Refuse to listen where others can reach it before there is a password."""
    if configuration.is_open and not is_loopback(address):
        raise UserError(
            f"pricewatch does not listen on {address or 'all addresses'} without a login: "
            "set PRICEWATCH_USER and PRICEWATCH_PASSWORD, or listen on 127.0.0.1."
        )
