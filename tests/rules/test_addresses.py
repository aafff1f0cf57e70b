"""Which addresses the crawler may connect to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.addresses import AllowedHosts, is_public, literal_address, refusal


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "0",
        "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1",
        "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "[::1]", "::", "fe80::1%eth0", "fc00::1",
        "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::a00:1",
        "2002:a00:1::", "2001:db8::1",
    ],
)  # fmt: skip
def test_private_addresses_are_refused_in_any_spelling(host: str) -> None:
    address = literal_address(host)
    assert address is not None
    assert not is_public(address)
    assert refusal(host, address, 80, AllowedHosts())


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "134744072", "[2606:4700::1111]", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(host: str) -> None:
    address = literal_address(host)
    assert address is not None
    assert refusal(host, address, 80, AllowedHosts()) is None


@pytest.mark.parametrize(
    "host", ["shop.com", "1e100.net", "3com.com", "127.0.0.1.nip.io", "", "a.b", "1.2.3.4.5"]
)
def test_names_are_not_addresses(host: str) -> None:
    assert literal_address(host) is None


@given(st.ip_addresses(v=4))
def test_every_spelling_is_the_same_address(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    octal = ".".join(f"0{byte:o}" for byte in address.packed)
    for spelling in (str(address), str(number), hex(number), octal):
        assert literal_address(spelling) == address


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1", 80, True),
        ("127.0.0.1:6880", "127.0.0.1", 6880, True),
        ("127.0.0.1:6880", "127.0.0.1", 6379, False),
        ("127.0.0.1:6880", "127.0.0.1", 0, False),
        ("http://127.0.0.1:6880/x", "127.0.0.1", 6880, True),
        ("http://127.0.0.1", "127.0.0.1", 80, True),
        ("http://127.0.0.1", "127.0.0.1", 8080, False),
        ("127.0.0.0/8", "127.9.9.9", 1, True),
        ("10.0.0.0/8", "127.0.0.1", 80, False),
        ("[::1]:80", "::1", 80, True),
        ("[::1]", "::1", 81, True),
        ("::1", "::1", 81, True),
        ("Shop.Internal", "shop.internal.", 80, True),
        ("shop.internal:81", "shop.internal", 80, False),
        ("shop.internal", "x.shop.internal", 80, False),
    ],
)
def test_allowed_hosts_match_by_name_address_network_and_port(
    entry: str, host: str, port: int, allowed: bool
) -> None:
    address = literal_address(host) or ipaddress.ip_address("10.0.0.9")
    assert AllowedHosts([entry]).allows(host, address, port) is allowed
