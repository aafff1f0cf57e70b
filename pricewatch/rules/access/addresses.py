"""Which addresses the crawler may connect to: public ones, and private ones that the operator allows."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Special ranges that some versions of Python's `ipaddress` call global.
_NOT_PUBLIC: list[IPNetwork] = [
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # Azure's host, from inside its machines
        "192.0.0.0/24",  # protocol assignments; Oracle Cloud's metadata at 192.0.0.192
        "192.88.99.0/24",  # relays of 6to4
        "64:ff9b:1::/48",  # NAT64 inside a network
        "2001::/23",  # protocol assignments, Teredo
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fec0::/10",  # site-local
    )
]
PORTS = {"http": 80, "https": 443}


def literal_address(host: str) -> IPAddress | None:
    """Return the IP address a host spells, in any form that resolvers accept: 2130706433, 0177.1, [::1]."""
    text = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    try:
        # The C library accepts octal, hexadecimal and shortened addresses, so this check must too.
        return ipaddress.IPv4Address(socket.inet_aton(text)) if text[:1].isdigit() else None
    except (OSError, UnicodeError):
        return None


def embedded_address(address: IPAddress) -> IPAddress:
    """Return the IPv4 address to which an IPv6 address leads (mapped, 6to4, NAT64), or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return inner or address
    return address


def is_public(address: IPAddress) -> bool:
    effective = embedded_address(address)
    is_special = effective.is_multicast or effective.is_reserved
    return effective.is_global and not is_special and not any(effective in each for each in _NOT_PUBLIC)


class AllowedHosts:
    """Hosts, addresses and networks that may be private, each with a port or without one (any port)."""

    def __init__(self, entries: Iterable[str] = ()):
        self._hosts: set[tuple[str, int | None]] = set()
        self._networks: list[tuple[IPNetwork, int | None]] = []
        for entry in entries:
            self.add(entry)

    def add(self, entry: str) -> None:
        """Add a host, an address, a network, a `host:port`, or the host and port of a URL."""
        text = entry.strip().lower()
        if "://" in text:
            parts = urlsplit(text)
            self._hosts.add((parts.hostname or "", parts.port or PORTS.get(parts.scheme)))
            return
        port: int | None = None
        if text.startswith("["):
            text, _, after = text[1:].partition("]")
            port = int(after[1:]) if after.startswith(":") else None
        elif text.count(":") == 1:
            text, _, digits = text.partition(":")
            port = int(digits)
        try:
            self._networks.append((ipaddress.ip_network(text, strict=False), port))
        except ValueError:
            self._hosts.add((text.rstrip("."), port))

    def allows(self, host: str, address: IPAddress | None, port: int) -> bool:
        """Return whether an entry matches; port 0 is an unknown port, which needs an entry without a port."""
        name = host.strip("[]").rstrip(".").lower()
        if (name, None) in self._hosts or (name, port) in self._hosts:
            return True
        return address is not None and any(
            address in network and allowed_port in (None, port) for network, allowed_port in self._networks
        )


def refusal(host: str, address: IPAddress, port: int, allowed: AllowedHosts) -> str | None:
    """Return why connections to this address are refused, or None if they are allowed."""
    if is_public(address) or allowed.allows(host, address, port):
        return None
    subject = host if host.strip("[]") == str(address) else f"{host} resolves to {address}, which"
    return f"{subject} is not a public address; {how_to_allow(host, port)}"


def how_to_allow(host: str, port: int) -> str:
    """Return the setting that allows fetching from this private host."""
    name = host.strip("[]")
    entry = f"[{name}]" if ":" in name else name
    return f"if it is yours, allow it with ALLOWED_PRIVATE_HOSTS={entry}{f':{port}' if port else ''}"
