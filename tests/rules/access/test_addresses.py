"""Which addresses the crawler may connect to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.access.addresses import AllowedHosts, is_public, literal_address, refusal

PRIVATE = {
    "this host, in any notation": [
        "127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "0",
        "0.0.0.0", "0.1.2.3", "[::1]", "::",
    ],
    "private networks": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fec0::1"],
    "link-local": ["169.254.1.1", "fe80::1%eth0"],
    "shared by the customers of a provider": ["100.64.0.1", "100.127.255.255"],
    "metadata of clouds": [
        "169.254.169.254", "169.254.170.2", "168.63.129.16", "2822734096", "192.0.0.192", "100.100.100.200",
        "fd00:ec2::254", "fd20:ce::254",
    ],
    "protocols, benchmarks, documentation": [
        "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.88.99.1", "198.18.0.1",
        "198.19.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:2::1", "2001:10::1", "2001:20::1",
        "2001:db8::1", "3fff::1", "5f00::1", "100::1", "100:0:0:1::1",
    ],
    "multicast, reserved": ["224.0.0.1", "240.0.0.1", "255.255.255.255", "ff02::1", "4000::1", "8000::1"],
    "IPv4 in IPv6: mapped, compatible, translated": [
        "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:168.63.129.16", "::127.0.0.1", "::10.0.0.1",
        "::ffff:0:10.0.0.1",
    ],
    "IPv4 in IPv6: NAT64, 6to4, Teredo": [
        "64:ff9b::a00:1", "64:ff9b::a83f:8110", "64:ff9b:1::a00:1", "64:ff9b:1::808:808", "2002:a00:1::",
        "2002:a83f:8110::1", "2001::1", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("why", "host"), [(why, host) for why, hosts in PRIVATE.items() for host in hosts])
def test_addresses_that_are_not_public_are_refused_in_any_spelling(why: str, host: str) -> None:
    address = literal_address(host)
    assert address is not None
    assert not is_public(address), why
    assert refusal(host, address, 80, AllowedHosts())


@pytest.mark.parametrize(
    "host",
    [
        "8.8.8.8", "134744072", "168.63.129.15", "192.0.1.1", "198.17.0.1", "100.128.0.1", "172.32.0.1",
        "[2606:4700::1111]", "2001:200::1", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2002:808:808::",
    ],
)  # fmt: skip
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
