"""Forward proxies: absolute-form requests and CONNECT, to loopback addresses and to the marketplace only."""

import asyncio
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from pricewatch.bazaar.control import PREFIX
from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.marketplace import Marketplace
from pricewatch.bazaar.streaming import ResponseWriter, StreamingResponse

NOT_FORWARDED = {"proxy-authorization", "proxy-connection", "connection", "keep-alive"}


class Relay(asyncio.Protocol):
    """Forward bytes to the peer, no faster than the peer accepts them."""

    def __init__(self, peer: asyncio.Transport, closed: Callable[[], None] = lambda: None) -> None:
        self._peer = peer
        self._closed = closed

    def data_received(self, data: bytes) -> None:
        """Forward the bytes."""
        self._peer.write(data)

    def pause_writing(self) -> None:
        """Stop reading from the peer while the buffer of this side is full."""
        self._peer.pause_reading()

    def resume_writing(self) -> None:
        """Read from the peer again."""
        if not self._peer.is_closing():
            self._peer.resume_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Close the peer too."""
        self._peer.close()
        self._closed()


@dataclass(frozen=True, slots=True)
class RelayedConnection:
    """Connect to the requested address and relay between it and the client."""

    marketplace: Marketplace
    request: Request
    upstream_address: tuple[str, int]
    first_bytes: bytes | None
    status: int | None = None

    async def send_to(self, writer: ResponseWriter) -> None:
        """Connect and relay; `first_bytes` are sent upstream, None means a CONNECT tunnel."""
        client = writer.transport
        port = 0
        try:
            upstream, _ = await asyncio.get_running_loop().create_connection(
                lambda: Relay(client, lambda: self._remove_tunnel(port)), *self.upstream_address
            )
        except OSError:
            self.marketplace.request_log.record(self.request, 502, None)
            writer.send(Response(502, b"Cannot connect to this address.\n", "text/plain"))
            return
        self.marketplace.request_log.record(self.request, 200 if self.first_bytes is None else None, None)
        unread = writer.detach()
        client.set_protocol(Relay(upstream))
        if self.first_bytes is None:
            port = upstream.get_extra_info("sockname")[1]
            self.marketplace.tunnels[port] = self.request.proxy or 0
            client.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        upstream.write((self.first_bytes or b"") + unread)
        client.resume_reading()

    def _remove_tunnel(self, port: int) -> None:
        self.marketplace.tunnels.pop(port, None)


def answer(marketplace: Marketplace, request: Request) -> Response | StreamingResponse:
    """Answer a request to the port of a proxy."""
    if request.method == "CONNECT":
        request.host = request.target
        return _relay(marketplace, request, f"//{request.target}", None)
    if not request.target.lower().startswith("http://"):
        return Response(400, b"This is a proxy. Send an absolute http:// URL or CONNECT.\n", "text/plain")
    absolute = request.target
    address = urlsplit(absolute)
    request.target = address.path or "/"
    if address.query:
        request.target += f"?{address.query}"
    # RFC 9112: the host of the URL takes precedence over the Host header.
    request.host = address.netloc.rpartition("@")[2]
    return _relay(marketplace, request, absolute, _forwarded_request(request))


def _relay(
    marketplace: Marketplace, request: Request, absolute: str, first_bytes: bytes | None
) -> Response | StreamingResponse:
    upstream_address = _upstream_address(marketplace, absolute)
    if isinstance(upstream_address, Response):
        marketplace.request_log.record(request, upstream_address.status, None)
        return upstream_address
    if first_bytes is not None and upstream_address == marketplace.address:
        return marketplace.answer(request)
    fault = None
    if not request.target.startswith(PREFIX):
        fault = marketplace.faults.apply(request, lambda: Response(502, b"Not available for tunnels.\n"))
    if fault is not None:
        marketplace.request_log.record(request, fault[0].status, fault[1])
        return fault[0]
    return RelayedConnection(marketplace, request, upstream_address, first_bytes)


def _upstream_address(marketplace: Marketplace, absolute: str) -> tuple[str, int] | Response:
    """Return the address to connect to: loopback addresses as given, the marketplace for host names."""
    try:
        parts = urlsplit(absolute)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host = None
    if not host:
        return Response(400, b"Invalid address.\n", "text/plain")
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return marketplace.address
    if not address.is_loopback:
        return Response(403, b"Only loopback addresses are allowed.\n", "text/plain")
    return (str(address), port)


def _forwarded_request(request: Request) -> bytes:
    """Return the request as it is sent upstream."""
    lines = [f"{request.method} {request.target} HTTP/1.1"]
    given = request.head.split("\r\n")[1:]
    lines += [line for line in given if line.partition(":")[0].lower() not in NOT_FORWARDED]
    lines.append("Connection: close\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1") + request.body
