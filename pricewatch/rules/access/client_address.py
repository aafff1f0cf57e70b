"""The address of a client: of the connection, or as reported by a reverse proxy that the operator trusts."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from pricewatch.errors import UserError
from pricewatch.rules.access.addresses import IPAddress, IPNetwork

_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([\d.]+):\d+")
# The part of an IPv6 address that identifies a customer, who can choose the rest at will.
CUSTOMER_BITS = 64


def parse_networks(text: str) -> tuple[IPNetwork, ...]:
    """Parse addresses and networks that are separated by commas or spaces."""
    networks = []
    for entry in text.replace(",", " ").split():
        try:
            networks.append(ipaddress.ip_network(entry, strict=False))
        except ValueError:
            raise UserError(
                f"PRICEWATCH_TRUSTED_PROXIES has {entry!r}, which is neither an address nor a network. "
                "Example: 127.0.0.1, 10.0.0.0/8"
            ) from None
    return tuple(networks)


def client_address(peer: str, forwarded_for: str, trusted: Sequence[IPNetwork]) -> str:
    """Return the last address that no trusted proxy has: X-Forwarded-For is read from the right.

    Whatever stands further left was written by the client, who may write anything.
    """
    address = peer
    for entry in (peer, *reversed(forwarded_for.split(","))):
        parsed = _parse(entry)
        if parsed is None:
            break
        address = str(parsed)
        if not any(parsed in network for network in trusted):
            break
    return address


def counted_address(address: str) -> str:
    """Return the address under which wrong passwords are counted: the /64 network of an IPv6 address."""
    parsed = _parse(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, CUSTOMER_BITS), strict=False))
    return str(parsed or address)


def _parse(entry: str) -> IPAddress | None:
    text = entry.strip()
    if found := _WITH_PORT.fullmatch(text):
        text = found[1] or found[2] or ""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
