"""A connection to a daemon that sends requests in pieces, as slowly or incompletely as a test needs."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPResponse

from tests.hostile.calls import TIMEOUT, Answer, header_lines


def basic(login: tuple[str, str]) -> str:
    return "Basic " + base64.b64encode(":".join(login).encode()).decode()


class OpenConnection:
    def __init__(self, socket_: socket.socket) -> None:
        self.socket = socket_

    def begin(self, method: str, path: str, **headers: str | None) -> None:
        """Send the headers only."""
        lines = [f"{method} {path} HTTP/1.1", *header_lines({"Host": "127.0.0.1", **headers})]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def answer(self) -> Answer:
        with HTTPResponse(self.socket) as response:
            response.begin()
            return Answer(response.status, response.headers, response.read())

    def read_all(self) -> bytes:
        """Everything that the other end sends until it closes the connection."""
        parts = []
        with suppress(ConnectionError):
            while part := self.socket.recv(2**16):
                parts.append(part)
        return b"".join(parts)

    def is_closed(self) -> bool:
        """Wait until the other end closes the connection; False if it sends something."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


@contextmanager
def open_connection(
    port: int, address: str = "127.0.0.1", *, receive_buffer: int | None = None
) -> Iterator[OpenConnection]:
    """Connect from an address of this machine; all of 127.0.0.0/8 are."""
    with socket.socket() as socket_:
        if receive_buffer is not None:
            socket_.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        socket_.settimeout(TIMEOUT)
        socket_.bind((address, 0))
        socket_.connect(("127.0.0.1", port))
        yield OpenConnection(socket_)
