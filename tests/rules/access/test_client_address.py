"""Whose address counts: the connection's, or the one that a trusted reverse proxy reports."""

from __future__ import annotations

import pytest

from pricewatch.errors import UserError
from pricewatch.rules.access.client_address import client_address, counted_address, parse_networks

PROXIES = "127.0.0.1, 10.0.0.0/8 2001:db8:1::/48"


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        # Anybody may send the header; only that of a trusted proxy is believed.
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        # From the right: what the client wrote itself stands further left.
        ("127.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "1.1.1.1, 198.51.100.1, 10.2.3.4", "198.51.100.1"),
        ("127.0.0.1", "10.9.9.9, 10.2.3.4", "10.9.9.9"),
        # What is not an address ends the search at the last known hop.
        ("127.0.0.1", "1.1.1.1, unknown, 10.2.3.4", "10.2.3.4"),
        ("127.0.0.1", "<script>", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1:5060", "198.51.100.1"),
        ("127.0.0.1", "[2001:db8:2::7]:443", "2001:db8:2::7"),
        ("::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("2001:db8:1::5", "2001:db8:2::7", "2001:db8:2::7"),
        ("", "198.51.100.1", ""),
    ],
)
def test_the_address_of_a_client(peer: str, forwarded: str, expected: str) -> None:
    assert client_address(peer, forwarded, parse_networks(PROXIES)) == expected


def test_without_trusted_proxies_the_header_is_ignored() -> None:
    assert client_address("127.0.0.1", "198.51.100.1", parse_networks("")) == "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:2:3:aaaa::1", "2001:db8:2:3::/64"),
        ("2001:db8:2:3:bbbb::2", "2001:db8:2:3::/64"),
        ("2001:db8:2:4::1", "2001:db8:2:4::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unix", "unix"),
    ],
)
def test_the_network_of_an_ipv6_address_is_counted(address: str, expected: str) -> None:
    assert counted_address(address) == expected


def test_what_is_not_a_network_is_refused() -> None:
    with pytest.raises(UserError, match=r"PRICEWATCH_TRUSTED_PROXIES has 'proxy\.example'"):
        parse_networks("127.0.0.1 proxy.example")
