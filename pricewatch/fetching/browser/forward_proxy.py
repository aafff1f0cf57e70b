"""A local forward proxy for all traffic of the browser, which checks every address before connecting.

A browser follows redirects and loads the resources of a page by itself, past the guard middleware. There is
one port per upstream proxy, so that the browser never gets the credentials of a proxy. Each crawl has its own
random password, because any user of this machine can connect to the port.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import math
import secrets
import ssl
from urllib.parse import urlsplit

from scrapy.statscollectors import StatsCollector

from pricewatch.fetching.failures import RefusedAddress, UnresolvedName
from pricewatch.fetching.name_resolution import AddressPolicy
from pricewatch.rules.proxy_config import Proxy

HEAD_LIMIT = 65_536
CHUNK = 65_536
CONNECT_SECONDS = 20.0
# The size of a page is measured in the browser; this limits a connection, which may serve many pages.
MAX_PAGES_PER_CONNECTION = 64
REMOVED_HEADERS = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:")
USERNAME = "pricewatch"
REFUSED, FAILED, CHALLENGE = "X-Pricewatch-Refused", "X-Pricewatch-Failed", "Proxy-Authenticate"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ForwardProxy:
    def __init__(self, policy: AddressPolicy, stats: StatsCollector, max_bytes: int):
        self._policy = policy
        self._stats = stats
        self._max_bytes = max_bytes
        self._servers: dict[str | None, asyncio.Server] = {}
        self._password = secrets.token_urlsafe(32)
        self._credentials = base64.b64encode(f"{USERNAME}:{self._password}".encode())

    async def for_browser(self, proxy: Proxy | None = None) -> dict[str, str]:
        """Return playwright's `proxy` option for requests that go through this proxy, or directly."""
        name = proxy.name if proxy else None
        if name not in self._servers:

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._serve(reader, writer, proxy)

            self._servers[name] = await asyncio.start_server(serve, "127.0.0.1", 0, limit=HEAD_LIMIT)
        port = self._servers[name].sockets[0].getsockname()[1]
        return {"server": f"http://127.0.0.1:{port}", "username": USERNAME, "password": self._password}

    async def close(self) -> None:
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Proxy | None
    ) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if not self._has_password(head):
                _send_error(writer, 407, CHALLENGE, 'Basic realm="pricewatch"')
                return
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            tunnel = method == "CONNECT"
            parts = urlsplit(f"//{target}" if tunnel else target)
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
            upstream = await self._connect(host, port, proxy)
            if tunnel:
                if proxy:
                    await self._open_tunnel(upstream, target, proxy)
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream[1].write(_forwarded_head(head, target, proxy))
        except (RefusedAddress, UnresolvedName) as error:
            self._stats.inc_value(f"pricewatch/guard/{error.reason}")
            _send_error(writer, 403, REFUSED, str(error))
        except (OSError, TimeoutError, ValueError, EOFError, asyncio.LimitOverrunError) as error:
            _send_error(writer, 502, FAILED, type(error).__name__)
        else:
            await self._relay((reader, writer), upstream, self._max_bytes * MAX_PAGES_PER_CONNECTION)
        finally:
            writer.close()

    def _has_password(self, head: bytes) -> bool:
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"proxy-authorization":
                scheme, _, credentials = value.strip().partition(b" ")
                return scheme.lower() == b"basic" and hmac.compare_digest(credentials, self._credentials)
        return False

    async def _connect(self, host: str, port: int, proxy: Proxy | None) -> Streams:
        """Connect to an address that was checked; an upstream proxy resolves the name again."""
        if proxy:
            await self._policy.check_for_proxy(host, port)
            proxy_url = urlsplit(proxy.url)
            secure = ssl.create_default_context() if proxy_url.scheme == "https" else None
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(proxy_url.hostname, proxy_url.port, ssl=secure)
        async with asyncio.timeout(CONNECT_SECONDS):
            addresses = await self._policy.resolve(host)
            allowed = [each for each in addresses if self._policy.check(host, each, port) is None]
            if not allowed:
                raise self._policy.recorded_failure(host, port) or RefusedAddress(f"{host} has no address")
            for address in allowed[:-1]:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection(address, port)
            return await asyncio.open_connection(allowed[-1], port)

    async def _open_tunnel(self, upstream: Streams, target: str, proxy: Proxy) -> None:
        reader, writer = upstream
        lines = [f"CONNECT {target} HTTP/1.1".encode(), f"Host: {target}".encode()]
        if proxy.authorization:
            lines.append(b"Proxy-Authorization: " + proxy.authorization)
        writer.write(b"\r\n".join([*lines, b"", b""]))
        async with asyncio.timeout(CONNECT_SECONDS):
            answer = await reader.readuntil(b"\r\n\r\n")
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            writer.close()
            raise OSError("the proxy did not open a tunnel")

    async def _relay(self, client: Streams, upstream: Streams, max_bytes: int) -> None:
        """Copy bytes in both directions until one side closes, or upstream sent more than `max_bytes`."""

        async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: float) -> None:
            copied = 0
            with contextlib.suppress(OSError):
                while data := await reader.read(CHUNK):
                    copied += len(data)
                    if copied > limit:
                        break
                    writer.write(data)
                    await writer.drain()
            writer.close()

        await asyncio.gather(
            copy(client[0], upstream[1], math.inf),
            copy(upstream[0], client[1], max_bytes),
            return_exceptions=True,
        )


def _forwarded_head(head: bytes, target: str, proxy: Proxy | None) -> bytes:
    """Return the head to send upstream; one request per connection, as the next may go to another host."""
    lines = head.split(b"\r\n")
    headers = [line for line in lines[1:-2] if not line.lower().startswith(REMOVED_HEADERS)]
    first = lines[0]
    if proxy is None:
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        first = first.replace(target.encode("latin-1"), path.encode("latin-1"), 1)
    elif proxy.authorization:
        headers.append(b"Proxy-Authorization: " + proxy.authorization)
    return b"\r\n".join([first, *headers, b"Connection: close", b"", b""])


def _send_error(writer: asyncio.StreamWriter, status: int, header: str, why: str) -> None:
    """Send an error response with a body: a browser treats an empty one as a network failure."""
    text = why.encode("ascii", "replace")
    head = f"HTTP/1.1 {status} {header}\r\n{header}: {text.decode()}\r\nContent-Type: text/plain\r\n"
    writer.write(f"{head}Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
