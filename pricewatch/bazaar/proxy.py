"""Forward proxies: absolute-form requests and CONNECT, to loopback addresses and to the marketplace only."""

import asyncio
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from pricewatch.bazaar.app import App
from pricewatch.bazaar.control import PREFIX
from pricewatch.bazaar.effects import Effect, Wire
from pricewatch.bazaar.messages import Request, Response

NOT_PASSED_ON = {"proxy-authorization", "proxy-connection", "connection", "keep-alive"}


class Relay(asyncio.Protocol):
    """Passes bytes to its peer, no faster than the peer takes them."""

    def __init__(self, peer: asyncio.Transport, closed: Callable[[], None] = lambda: None) -> None:
        self._peer = peer
        self._closed = closed

    def data_received(self, data: bytes) -> None:
        """Pass on."""
        self._peer.write(data)

    def pause_writing(self) -> None:
        """Stop reading from the peer while our side is full."""
        self._peer.pause_reading()

    def resume_writing(self) -> None:
        """Read from the peer again."""
        if not self._peer.is_closing():
            self._peer.resume_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Hang up on the peer too."""
        self._peer.close()
        self._closed()


@dataclass(frozen=True, slots=True)
class Passage:
    """Opens a connection to where the client wants to go, and joins the two."""

    app: App
    request: Request
    goal: tuple[str, int]
    opening: bytes | None
    status: int | None = None

    async def play(self, wire: Wire) -> None:
        """Connect and relay; `opening` goes to the other side, None means a CONNECT tunnel."""
        client = wire.transport
        port = 0
        try:
            upstream, _ = await asyncio.get_running_loop().create_connection(
                lambda: Relay(client, lambda: self._forget(port)), *self.goal
            )
        except OSError:
            self.app.journal.record(self.request, 502, None)
            wire.send(Response(502, b"There is no connection to that address.\n", "text/plain"))
            return
        self.app.journal.record(self.request, 200 if self.opening is None else None, None)
        unread = wire.hand_over()
        client.set_protocol(Relay(upstream))
        if self.opening is None:
            port = upstream.get_extra_info("sockname")[1]
            self.app.tunnels[port] = self.request.proxy or 0
            client.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        upstream.write((self.opening or b"") + unread)
        client.resume_reading()

    def _forget(self, port: int) -> None:
        self.app.tunnels.pop(port, None)


def answer(app: App, request: Request) -> Response | Effect:
    """Answer a request that came to a proxy's port."""
    if request.method == "CONNECT":
        request.host = request.target
        return _through(app, request, f"//{request.target}", None)
    if not request.target.lower().startswith("http://"):
        return Response(400, b"This is a proxy: send an absolute http address, or CONNECT.\n", "text/plain")
    absolute = request.target
    address = urlsplit(absolute)
    request.target = address.path or "/"
    if address.query:
        request.target += f"?{address.query}"
    # The host of the address counts, as RFC 9112 has it, and not the Host header.
    request.host = address.netloc.rpartition("@")[2]
    return _through(app, request, absolute, _opening(request))


def _through(app: App, request: Request, absolute: str, opening: bytes | None) -> Response | Effect:
    goal = _goal(app, absolute)
    if isinstance(goal, Response):
        app.journal.record(request, goal.status, None)
        return goal
    if opening is not None and goal == app.address:
        return app.answer(request)
    fault = None
    if not request.target.startswith(PREFIX):
        fault = app.faults.apply(request, lambda: Response(502, b"A tunnel cannot fail that way.\n"))
    if fault is not None:
        app.journal.record(request, fault[0].status, fault[1])
        return fault[0]
    return Passage(app, request, goal, opening)


def _goal(app: App, absolute: str) -> tuple[str, int] | Response:
    """Return where an address leads: a loopback address to itself, a name to the marketplace."""
    try:
        parts = urlsplit(absolute)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host = None
    if not host:
        return Response(400, b"That is not an address.\n", "text/plain")
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return app.address
    if not address.is_loopback:
        return Response(403, b"Only loopback addresses are served.\n", "text/plain")
    return (str(address), port)


def _opening(request: Request) -> bytes:
    """Return the request as the other side is to get it."""
    lines = [f"{request.method} {request.target} HTTP/1.1"]
    given = request.head.split("\r\n")[1:]
    lines += [line for line in given if line.partition(":")[0].lower() not in NOT_PASSED_ON]
    lines.append("Connection: close\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1") + request.body
