"""HTTP/1.1 server: keep-alive, ordered pipelining, and streaming responses."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

from pricewatch.bazaar.http_messages import BadRequest, Request, Response, parse, response_head
from pricewatch.bazaar.streaming import StreamingResponse

HEAD_LIMIT = 65_536
BODY_LIMIT = 64 * 2**20
WAITING_LIMIT = 2**20
# A fault that sets these headers may break the framing: the connection is closed after the response.
FRAMING_HEADERS = {"content-length", "transfer-encoding"}

Handler = Callable[[Request], Response | StreamingResponse]


class OpenConnections:
    """Count of connected clients, for a server that stops when there are none."""

    def __init__(self) -> None:
        self._count = 0
        self._on_none: Callable[[], None] | None = None

    def opened(self) -> None:
        """Count a new connection."""
        self._count += 1

    def closed(self) -> None:
        """Count a closed connection."""
        self._count -= 1
        self._check()

    def when_none(self, call: Callable[[], None]) -> None:
        """Call `call` as soon as no client is connected."""
        self._on_none = call
        self._check()

    def _check(self) -> None:
        if self._on_none is not None and not self._count:
            self._on_none()


class Connection(asyncio.Protocol):
    """One client. Requests are answered in order; the next waits while a response is streaming."""

    def __init__(
        self, handler: Handler, proxy: int | None, tunnels: dict[int, int], connections: OpenConnections
    ) -> None:
        self._handler = handler
        self._connections = connections
        self._proxy = proxy
        self._tunnels = tunnels
        self._buffer = bytearray()
        self._streaming: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._ended = False
        self._keep_alive = True
        self._head_only = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport and the address of the client."""
        self._connections.opened()
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername") or ("", 0)
        self._port = int(peer[1])
        self._client = f"{peer[0]}:{peer[1]}"

    def connection_lost(self, _exc: Exception | None) -> None:
        """Cancel the streaming response."""
        self._connections.closed()
        self._ended = True
        self._writable.set()
        if self._streaming is not None:
            self._streaming.cancel()

    def data_received(self, data: bytes) -> None:
        """Buffer the bytes and answer complete requests."""
        self._buffer += data
        if self._streaming is None:
            self._answer_requests()
        elif len(self._buffer) > WAITING_LIMIT:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """Stop answering while the client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Answer the requests that waited."""
        self._writable.set()
        if self._streaming is None:
            self._answer_requests()

    def send(self, response: Response) -> None:
        """Write a complete response."""
        if self.send_head(response, len(response.body)):
            self._transport.write(response.body)
        self._finish()

    def send_head(self, response: Response, length: int) -> bool:
        """Write the status line and headers; return False if no body may follow."""
        if any(name.lower() in FRAMING_HEADERS for name, _ in response.headers):
            self._keep_alive = False
        empty = response.status in (204, 304)
        head = response_head(response, None if empty else length, keep_alive=self._keep_alive)
        self._transport.write(head)
        return not (empty or self._head_only)

    async def write(self, data: bytes) -> None:
        """Write part of a body; wait while the client does not read."""
        self._transport.write(data)
        await self._writable.wait()

    def reset(self) -> None:
        """Close the connection with a TCP reset, by setting SO_LINGER to zero seconds."""
        self._ended = True
        peer = self._transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close(self) -> None:
        """Close the connection after sending what was written."""
        self._ended = True
        self._transport.close()

    def detach(self) -> bytes:
        """Hand the socket to another protocol; return the bytes that were read but not used."""
        self._ended = True
        return bytes(self._buffer)

    @property
    def transport(self) -> asyncio.Transport:
        """The transport of the connection."""
        return self._transport

    def _answer_requests(self) -> None:
        """Answer complete requests until none is left or a response is streaming."""
        while not self._ended and self._streaming is None and self._writable.is_set():
            try:
                request = self._next_request()
            except BadRequest as error:
                self._keep_alive = self._head_only = False
                self.send(Response(error.status, f"{error}\n".encode(), "text/plain"))
                return
            if request is None:
                return
            self._keep_alive = request.keep_alive
            self._head_only = request.method == "HEAD"
            response = self._handler(request)
            if isinstance(response, Response):
                self.send(response)
            else:
                self._streaming = asyncio.get_running_loop().create_task(self._stream(response))

    async def _stream(self, response: StreamingResponse) -> None:
        try:
            await response.send_to(self)
        finally:
            self._streaming = None
        if not self._ended:
            self._finish()
            self._transport.resume_reading()
            self._answer_requests()

    def _finish(self) -> None:
        if not self._keep_alive:
            self.close()

    def _next_request(self) -> Request | None:
        """Remove one complete request from the buffer; None if there is none yet."""
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
        del buffer[: begins + size]
        return request
