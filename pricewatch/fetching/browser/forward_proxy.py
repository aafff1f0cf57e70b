"""The browser's only way out: a forward proxy on this machine that checks every address before connecting.

A browser follows redirects and loads what a page names without asking us; here it has to ask. One port per
proxy that the pages go through, so that the browser never learns a proxy's credentials.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import ssl
from urllib.parse import urlsplit

from scrapy.statscollectors import StatsCollector

from pricewatch.fetching.name_resolution import AddressBook
from pricewatch.rules.addresses import literal_address
from pricewatch.rules.proxy_config import Proxy

HEAD_LIMIT = 65_536
CHUNK = 65_536
CONNECT_SECONDS = 20.0
# A page's size is watched in the browser; this is for what loads beside it. A line may serve many pages.
MANY_PAGES = 64
NOT_PASSED_ON = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:")
REFUSED, FAILED = "X-Pricewatch-Refused", "X-Pricewatch-Failed"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refused(Exception):
    """The address must not be connected to."""


class ForwardProxy:
    def __init__(self, book: AddressBook, stats: StatsCollector, most_bytes: int):
        self._book = book
        self._stats = stats
        self._most_bytes = most_bytes
        self._servers: dict[str | None, asyncio.Server] = {}

    async def address(self, proxy: Proxy | None = None) -> str:
        """Where the browser is to connect so that its requests go through this proxy, or directly."""
        name = proxy.name if proxy else None
        if name not in self._servers:

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._serve(reader, writer, proxy)

            self._servers[name] = await asyncio.start_server(serve, "127.0.0.1", 0, limit=HEAD_LIMIT)
        return f"http://127.0.0.1:{self._servers[name].sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Proxy | None
    ) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            tunnel = method == "CONNECT"
            parts = urlsplit(f"//{target}" if tunnel else target)
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
            upstream = await self._connect(host, port, proxy)
            if tunnel:
                if proxy:
                    await self._ask_for_tunnel(upstream, target, proxy)
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream[1].write(_opening(head, target, proxy))
        except Refused as error:
            self._stats.inc_value("pricewatch/guard/refused_address")
            _answer(writer, 403, REFUSED, str(error))
        except (OSError, TimeoutError, ValueError, EOFError, asyncio.LimitOverrunError) as error:
            _answer(writer, 502, FAILED, type(error).__name__)
        else:
            await self._relay((reader, writer), upstream, self._most_bytes * MANY_PAGES)
        finally:
            writer.close()

    async def _connect(self, host: str, port: int, proxy: Proxy | None) -> Streams:
        """Connect to the very address that was checked; behind a proxy, the proxy looks names up."""
        if proxy:
            literal = literal_address(host)
            if literal is not None and (why := self._book.refusal(host, str(literal), port)):
                raise Refused(why)
            place = urlsplit(proxy.url)
            secure = ssl.create_default_context() if place.scheme == "https" else None
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(place.hostname, place.port, ssl=secure)
        fixed = self._book.hosts.get(host.lower()) or str(literal_address(host) or host)
        async with asyncio.timeout(CONNECT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(fixed, port, type=1)
            addresses = [str(entry[4][0]) for entry in found]
            open_to_us = [each for each in addresses if self._book.refusal(host, each, port) is None]
            if not open_to_us:
                raise Refused(self._book.refused(host, port) or f"{host} leads nowhere")
            for address in open_to_us[:-1]:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection(address, port)
            return await asyncio.open_connection(open_to_us[-1], port)

    async def _ask_for_tunnel(self, upstream: Streams, target: str, proxy: Proxy) -> None:
        reader, writer = upstream
        lines = [f"CONNECT {target} HTTP/1.1".encode(), f"Host: {target}".encode()]
        if proxy.authorization:
            lines.append(b"Proxy-Authorization: " + proxy.authorization)
        writer.write(b"\r\n".join([*lines, b"", b""]))
        async with asyncio.timeout(CONNECT_SECONDS):
            answer = await reader.readuntil(b"\r\n\r\n")
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            writer.close()
            raise OSError("the proxy opens no tunnel")

    async def _relay(self, client: Streams, upstream: Streams, most_bytes: int) -> None:
        """Pass bytes both ways until one side ends it, or more came back than may."""

        async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: float) -> None:
            passed = 0
            with contextlib.suppress(OSError):
                while data := await reader.read(CHUNK):
                    passed += len(data)
                    if passed > most:
                        break
                    writer.write(data)
                    await writer.drain()
            writer.close()

        await asyncio.gather(
            copy(client[0], upstream[1], math.inf),
            copy(upstream[0], client[1], most_bytes),
            return_exceptions=True,
        )


def _opening(head: bytes, target: str, proxy: Proxy | None) -> bytes:
    """The request as the other side is to get it; one per connection, for the next may go elsewhere."""
    lines = head.split(b"\r\n")
    kept = [line for line in lines[1:-2] if not line.lower().startswith(NOT_PASSED_ON)]
    first = lines[0]
    if proxy is None:
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        first = first.replace(target.encode("latin-1"), path.encode("latin-1"), 1)
    elif proxy.authorization:
        kept.append(b"Proxy-Authorization: " + proxy.authorization)
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


def _answer(writer: asyncio.StreamWriter, status: int, header: str, why: str) -> None:
    """An answer of our own; with something to read, because a browser takes an empty one for a failure."""
    text = why.encode("ascii", "replace")
    head = f"HTTP/1.1 {status} {header}\r\n{header}: {text.decode()}\r\nContent-Type: text/plain\r\n"
    writer.write(f"{head}Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
