"""A TCP proxy for the database that can stall: it accepts data and forwards nothing."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from sqlalchemy.engine import make_url


class StallingProxy:
    """Listen at `url`, and forward to the Unix socket of the server unless stalled."""

    def __init__(self, database_url: str) -> None:
        url = make_url(database_url)
        directory = str(url.query["host"])
        (self._server_socket,) = Path(directory).glob(".s.PGSQL.*[0-9]")
        self._is_forwarding = threading.Event()
        self._is_forwarding.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listener]
        port = self._listener.getsockname()[1]
        query = {name: value for name, value in url.query.items() if name != "host"}
        proxied = url.set(host="127.0.0.1", port=port, query=query)
        self.url = proxied.render_as_string(hide_password=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        self._is_forwarding.clear()

    def resume(self) -> None:
        self._is_forwarding.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_forwarding.set()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._sockets += [client, server]
                server.connect(str(self._server_socket))
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._is_forwarding.wait()
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
