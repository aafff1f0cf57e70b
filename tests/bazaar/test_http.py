"""HTTP: keep-alive, pipelining, HEAD, and invalid requests."""

import http.client

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor, read_all


@pytest.mark.parametrize(
    "target", ["/", "/c/bikes", "/nothing", "/robots.txt", "/static/app.js", "/search?q=trek"]
)
def test_head_has_the_headers_of_get_and_no_body(visitor: Visitor, target: str) -> None:
    head, get = visitor.request(target, "HEAD"), visitor.request(target)
    assert (head.status, head.body) == (get.status, b"")
    for name in ("Content-Length", "Content-Type"):
        assert head.headers[name] == get.headers[name]


def test_head_of_a_gone_listing_has_the_status_of_get(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = bazaar.add("toys", "Brummkreisel", 700)
    assert visitor.request(listing.url, "HEAD").status == 200
    bazaar.change(listing.id, end="410")
    assert visitor.request(listing.url, "HEAD").status == 410


@pytest.mark.parametrize("head", ["405", "403"])
def test_head_can_be_refused(bazaar: Bazaar, visitor: Visitor, head: str) -> None:
    bazaar.behave(head=head)
    assert visitor.request("/c/bikes", "HEAD").status == int(head)
    assert visitor.request("/c/bikes").status == 200


def test_one_connection_serves_many_requests(bazaar: Bazaar, visitor: Visitor) -> None:
    connection = http.client.HTTPConnection(visitor.place, timeout=60)
    for path in ("/c/bikes", "/nothing", "/c/toys"):
        connection.request("GET", path)
        connection.getresponse().read()
    connection.close()
    assert len({entry.client for entry in bazaar.log()}) == 1


def test_pipelined_requests_are_answered_in_order_despite_a_slow_one(
    bazaar: Bazaar, visitor: Visitor
) -> None:
    bazaar.fault("hang", "/c/bikes", seconds=0.05)
    paths = ["/c/bikes", "/robots.txt", "/c/toys", "/c/bikes", "/c/phones"]
    expected = [visitor.request(path).body for path in paths]
    requests = [f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths[:-1]]
    requests.append(f"GET {paths[-1]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    with visitor.connect() as sock:
        sock.sendall("".join(requests).encode())
        data = read_all(sock)
    bodies = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        bodies.append(data[:length])
        data = data[length:]
    assert bodies == expected


def test_a_request_can_arrive_byte_by_byte(visitor: Visitor) -> None:
    head = b"POST /_control/clock HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\nConnection: close\r\n\r\n"
    request = b"\r\n" + head + b'{"advance": 0}'
    with visitor.connect() as sock:
        for byte in request:
            sock.sendall(bytes([byte]))
        assert read_all(sock).startswith(b"HTTP/1.1 200 OK\r\n")


def test_http_1_0_connections_are_closed_by_default(visitor: Visitor) -> None:
    with visitor.connect() as sock:
        sock.sendall(b"GET /robots.txt HTTP/1.0\r\n\r\n")
        assert b"Connection: close\r\n" in read_all(sock)


def test_a_client_that_reads_late_gets_all_responses(visitor: Visitor) -> None:
    single = visitor.request("/c/bikes?rows=90").body
    request = b"GET /c/bikes?rows=90 HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /c/bikes?rows=90 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with visitor.connect() as sock:
        sock.sendall(request * 300 + last)
        assert read_all(sock).count(single) == 301


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/3\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
        (b"POST /c/bikes HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", 405),
    ],
)
def test_invalid_requests_get_an_error_status(visitor: Visitor, sent: bytes, status: int) -> None:
    with visitor.connect() as sock:
        sock.sendall(sent)
        assert read_all(sock).startswith(f"HTTP/1.1 {status} ".encode())
