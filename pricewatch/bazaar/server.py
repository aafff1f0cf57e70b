"""HTTP/1.1 on a socket: keep-alive, pipelining in order, and answers that take their time."""

import asyncio
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import cast

from pricewatch.bazaar.effects import Effect
from pricewatch.bazaar.messages import BadRequest, Request, Response, parse, status_line

HEAD_LIMIT = 65_536
BODY_LIMIT = 64 * 2**20
WAITING_LIMIT = 2**20
# Framing that a fault sets by itself cannot be trusted with a second answer.
FRAMING = {"content-length", "transfer-encoding"}
# Where Linux keeps the milliseconds since data last came, in what it tells of a connection.
LAST_DATA = struct.Struct("52xI")
# It counts in ticks: what it says may be this much too long.
TICK_MILLISECONDS = 4

Answer = Callable[[Request], Response | Effect]


class Users:
    """Who is connected, for a marketplace that ends when nobody is."""

    def __init__(self) -> None:
        self._count = 0
        self._gone: Callable[[], None] | None = None

    def come(self) -> None:
        """One more is there."""
        self._count += 1

    def leave(self) -> None:
        """One has left."""
        self._count -= 1
        self._look()

    def when_gone(self, call: Callable[[], None]) -> None:
        """Call this as soon as nobody is there."""
        self._gone = call
        self._look()

    def _look(self) -> None:
        if self._gone is not None and not self._count:
            self._gone()


class Connection(asyncio.Protocol):
    """One client. Requests are answered strictly in order; the next waits while an effect plays."""

    def __init__(self, answer: Answer, proxy: int | None, tunnels: dict[int, int], users: Users) -> None:
        self._answer = answer
        self._users = users
        self._proxy = proxy
        self._tunnels = tunnels
        self._buffer = bytearray()
        self._effect: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._over = False
        self._keep = True
        self._head_only = False
        self._arrived = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember who is there."""
        self._users.come()
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername") or ("", 0)
        self._port = int(peer[1])
        self._client = f"{peer[0]}:{peer[1]}"

    def connection_lost(self, _exc: Exception | None) -> None:
        """Stop whatever was still playing."""
        self._users.leave()
        self._over = True
        self._writable.set()
        if self._effect is not None:
            self._effect.cancel()

    def data_received(self, data: bytes) -> None:
        """Take in bytes and answer what is complete."""
        self._buffer += data
        self._arrived = time.time() - self._seconds_unread()
        if self._effect is None:
            self._work()
        elif len(self._buffer) > WAITING_LIMIT:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """Hold answers back while the client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on with what waited."""
        self._writable.set()
        if self._effect is None:
            self._work()

    def send(self, response: Response) -> None:
        """Write a complete answer."""
        if self.send_head(response, len(response.body)):
            self._transport.write(response.body)
        self._finish()

    def send_head(self, response: Response, length: int) -> bool:
        """Write only what comes before the body; False where no body may follow."""
        if any(name.lower() in FRAMING for name, _ in response.headers):
            self._keep = False
        empty = response.status in (204, 304)
        head = status_line(response, None if empty else length, keep_alive=self._keep)
        self._transport.write(head)
        return not (empty or self._head_only)

    async def write(self, data: bytes) -> None:
        """Write part of a body; waits while the client does not read."""
        self._transport.write(data)
        await self._writable.wait()

    def reset(self) -> None:
        """End the connection with a TCP reset: lingering for zero seconds is how one asks for it."""
        self._over = True
        peer = self._transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close(self) -> None:
        """End the connection after what was written."""
        self._over = True
        self._transport.close()

    def hand_over(self) -> bytes:
        """Give the socket away; returns what was read from it but not used."""
        self._over = True
        return bytes(self._buffer)

    @property
    def transport(self) -> asyncio.Transport:
        """The socket itself."""
        return self._transport

    def _work(self) -> None:
        """Answer complete requests until there are none, or until one needs time."""
        while not self._over and self._effect is None and self._writable.is_set():
            try:
                request = self._take()
            except BadRequest as error:
                self._keep = self._head_only = False
                self.send(Response(error.status, f"{error}\n".encode(), "text/plain"))
                return
            if request is None:
                return
            self._keep = request.keep_alive
            self._head_only = request.method == "HEAD"
            reply = self._answer(request)
            if isinstance(reply, Response):
                self.send(reply)
            else:
                self._effect = asyncio.get_running_loop().create_task(self._play(reply))

    async def _play(self, effect: Effect) -> None:
        try:
            await effect.play(self)
        finally:
            self._effect = None
        if not self._over:
            self._finish()
            self._transport.resume_reading()
            self._work()

    def _finish(self) -> None:
        if not self._keep:
            self.close()

    def _take(self) -> Request | None:
        """Take one whole request off the buffer; None while it is not complete."""
        buffer = self._buffer
        while buffer.startswith(b"\r\n"):
            del buffer[:2]
        ends = buffer.find(b"\r\n\r\n", 0, HEAD_LIMIT)
        if ends < 0:
            if len(buffer) >= HEAD_LIMIT:
                raise BadRequest(431, "The headers are too long.")
            return None
        proxy = self._proxy if self._proxy is not None else self._tunnels.get(self._port)
        request = parse(buffer[:ends].decode("latin-1"), self._client, proxy)
        length = request.headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise BadRequest(400, "Content-Length is not a number.")
        begins, size = ends + 4, int(length[:12])
        if size > BODY_LIMIT:
            raise BadRequest(413, "The body is too large.")
        if len(buffer) < begins + size:
            return None
        request.body = bytes(buffer[begins : begins + size])
        request.arrived = self._arrived
        del buffer[: begins + size]
        return request

    def _seconds_unread(self) -> float:
        """How long ago the last bytes came, which is not when a busy process gets round to reading them."""
        if not sys.platform.startswith("linux"):
            return 0.0
        peer = self._transport.get_extra_info("socket")
        told = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAST_DATA.size)
        milliseconds: int = LAST_DATA.unpack(told)[0]
        return max(0.0, milliseconds - TICK_MILLISECONDS) / 1000
