"""A line to the database that can go dead: whatever is sent is taken, and nothing comes back."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from sqlalchemy.engine import make_url


class Line:
    """Listens at `url`, and forwards to the server's own socket for as long as it is not dead."""

    def __init__(self, database_url: str) -> None:
        url = make_url(database_url)
        directory = str(url.query["host"])
        (self._server,) = Path(directory).glob(".s.PGSQL.*[0-9]")
        self._alive = threading.Event()
        self._alive.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        port = self._listener.getsockname()[1]
        query = {name: value for name, value in url.query.items() if name != "host"}
        reached = url.set(host="127.0.0.1", port=port, query=query)
        self.url = reached.render_as_string(hide_password=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def die(self) -> None:
        self._alive.clear()

    def revive(self) -> None:
        self._alive.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._alive.set()
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                server.connect(str(self._server))
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                self._alive.wait()
                other.sendall(data)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
