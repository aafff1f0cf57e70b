"""The forward proxies: forwarding, tunnels, and faults."""

import http.client
from collections.abc import Iterator

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor, read_all


@pytest.fixture
def proxies(bazaar: Bazaar) -> list[Visitor]:
    return [Visitor(url) for url in bazaar.proxies]


@pytest.fixture(scope="module")
def other() -> Iterator[Bazaar]:
    with Bazaar.start(seed=99, listings=20) as bazaar:
        yield bazaar


def test_any_host_name_resolves_to_the_marketplace(
    bazaar: Bazaar, visitor: Visitor, proxies: list[Visitor]
) -> None:
    direct = visitor.request("/c/bikes?page=2")
    answer = proxies[1].request("http://shop.example/c/bikes?page=2", Proxy_Authorization="Basic eDp5")
    assert (answer.status, answer.body) == (200, direct.body)
    entry = bazaar.log()[-1]
    assert (entry.host, entry.path, entry.proxy) == ("shop.example", "/c/bikes?page=2", 1)
    assert entry.header("proxy-authorization") == "Basic eDp5"


def test_requests_to_loopback_addresses_are_forwarded(
    bazaar: Bazaar, proxies: list[Visitor], other: Bazaar
) -> None:
    other.clear_log()
    answer = proxies[0].request(f"{other.url}/c/bikes", Proxy_Authorization="Basic eDp5", X_Kept="yes")
    assert answer.body == Visitor(other.url).request("/c/bikes").body
    arrived = other.log()[0]
    assert (arrived.header("x-kept"), arrived.header("proxy-authorization")) == ("yes", None)
    assert bazaar.log()[-1].proxy == 0


def test_a_tunnel_to_a_host_name_reaches_the_marketplace(bazaar: Bazaar, proxies: list[Visitor]) -> None:
    connection = http.client.HTTPConnection(proxies[1].place, timeout=60)
    connection.set_tunnel("shop.example", 443, {"Proxy-Authorization": "Basic eDp5"})
    for _ in range(2):
        connection.request("GET", "/c/toys")
        response = connection.getresponse()
        assert (response.status, len(response.read()) > 10_000) == (200, True)
    connection.close()
    tunnel, first, second = bazaar.log()
    assert (tunnel.method, tunnel.path, tunnel.status, tunnel.proxy) == (
        "CONNECT",
        "shop.example:443",
        200,
        1,
    )
    assert tunnel.header("proxy-authorization") == "Basic eDp5"
    assert (first.method, first.path, first.proxy) == ("GET", "/c/toys", 1)
    assert second.proxy == 1


def test_a_tunnel_to_another_loopback_port(proxies: list[Visitor], other: Bazaar) -> None:
    place = other.url.removeprefix("http://")
    with proxies[0].connect() as sock:
        request = "GET /c/toys HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        # Sent together: bytes after CONNECT must not be lost while the tunnel opens.
        sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n{request}".encode())
        established, _, rest = read_all(sock).partition(b"\r\n\r\n")
    assert established.startswith(b"HTTP/1.1 200")
    assert rest.partition(b"\r\n\r\n")[2] == Visitor(other.url).request("/c/toys").body


@pytest.mark.parametrize("status", [407, 502, 403])
def test_a_fault_can_apply_to_one_proxy(
    bazaar: Bazaar, visitor: Visitor, proxies: list[Visitor], status: int
) -> None:
    bazaar.fault("status", proxy=0, status=status)
    refused = proxies[0].request("http://shop.example/")
    assert refused.status == status
    assert ("Proxy-Authenticate" in refused.headers) is (status == 407)
    assert proxies[1].request("http://shop.example/").status == 200
    assert visitor.request("/").status == 200
    assert [(entry.proxy, entry.status) for entry in bazaar.log()] == [(0, status), (1, 200), (None, 200)]


def test_a_proxy_can_reset_connections(bazaar: Bazaar, proxies: list[Visitor]) -> None:
    bazaar.fault("reset", proxy=1, times=1)
    assert proxies[1].is_reset("http://shop.example/")
    assert proxies[1].request("http://shop.example/").status == 200


def test_a_tunnel_can_be_refused(bazaar: Bazaar, proxies: list[Visitor]) -> None:
    bazaar.fault("status", proxy=0, method="CONNECT", status=407)
    connection = http.client.HTTPConnection(proxies[0].place, timeout=60)
    connection.set_tunnel("shop.example", 443)
    with pytest.raises(OSError, match="407"):
        connection.request("GET", "/")
    connection.close()
    assert bazaar.log()[-1].action == "status"


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/c/bikes", 400),
        ("http://93.184.216.34/", 403),
        ("http://[::ffff:10.0.0.1]/", 403),
        ("http://host:notaport/", 400),
        ("http://127.0.0.1:1/", 502),
        ("https://shop.example/", 400),
    ],
)
def test_unsupported_proxy_requests_get_an_error_status(
    proxies: list[Visitor], target: str, status: int
) -> None:
    assert proxies[0].request(target).status == status
