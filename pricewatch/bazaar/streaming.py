"""Responses that are written over time, or never completed."""

import asyncio
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from pricewatch.bazaar.http_messages import Response

CHUNK = 2**16
PARAGRAPH = b"<p>" + b"Lorem ipsum dolor sit amet, consetetur sadipscing elitr. " * 18 + b"</p>\n"


class ResponseWriter(Protocol):
    """What a streaming response can do with a connection."""

    def send(self, response: Response) -> None:
        """Write a complete response."""

    def send_head(self, response: Response, length: int) -> bool:
        """Write the status line and headers; return False if no body may follow (HEAD)."""

    async def write(self, data: bytes) -> None:
        """Write part of a body; wait while the client does not read."""

    def reset(self) -> None:
        """Close the connection with a TCP reset."""

    def close(self) -> None:
        """Close the connection after sending what was written."""

    def detach(self) -> bytes:
        """Hand the socket to another protocol; return the bytes that were read but not used."""

    @property
    def transport(self) -> asyncio.Transport:
        """The transport of the connection."""


class StreamingResponse(Protocol):
    """A response that is written over time. `status` is logged: None if no status is sent."""

    @property
    def status(self) -> int | None:
        """The status that is sent."""

    async def send_to(self, writer: ResponseWriter) -> None:
        """Write the response."""


@dataclass(frozen=True, slots=True)
class HangingResponse:
    """Send nothing, or the normal response after `seconds` if given."""

    response: Response
    seconds: float | None

    @property
    def status(self) -> int | None:
        """None if it never responds."""
        return None if self.seconds is None else self.response.status

    async def send_to(self, writer: ResponseWriter) -> None:
        """Wait; the server cancels it when the client disconnects."""
        if self.seconds is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(self.seconds)
            writer.send(self.response)


@dataclass(frozen=True, slots=True)
class HeldResponse:
    """Hold the normal response until the fault is removed."""

    response: Response
    removed: asyncio.Event

    @property
    def status(self) -> int | None:
        """The status of the normal response."""
        return self.response.status

    async def send_to(self, writer: ResponseWriter) -> None:
        """Wait, then respond."""
        await self.removed.wait()
        writer.send(self.response)


@dataclass(frozen=True, slots=True)
class SlowResponse:
    """Send the normal response a few bytes at a time."""

    response: Response
    size: int
    interval: float

    @property
    def status(self) -> int | None:
        """The status of the normal response."""
        return self.response.status

    async def send_to(self, writer: ResponseWriter) -> None:
        """Send the body in pieces, with a pause before each."""
        body = self.response.body
        if writer.send_head(self.response, len(body)):
            for begins in range(0, len(body), self.size):
                await asyncio.sleep(self.interval)
                await writer.write(body[begins : begins + self.size])


@dataclass(frozen=True, slots=True)
class ConnectionReset:
    """Close the connection with a TCP reset instead of a response."""

    status: int | None = None

    async def send_to(self, writer: ResponseWriter) -> None:
        """Reset the connection."""
        writer.reset()


@dataclass(frozen=True, slots=True)
class TruncatedResponse:
    """Announce the whole response, send the beginning, and close the connection."""

    response: Response
    keep: int | None

    @property
    def status(self) -> int | None:
        """The status of the normal response."""
        return self.response.status

    async def send_to(self, writer: ResponseWriter) -> None:
        """Send less than Content-Length announces."""
        body = self.response.body
        # One byte more than the body has, so that even an empty one is truncated.
        if writer.send_head(self.response, len(body) + 1):
            await writer.write(body[: len(body) // 2 if self.keep is None else self.keep])
        writer.close()


@dataclass(frozen=True, slots=True)
class LargeResponse:
    """Send a page of any size without holding it in memory."""

    size: int
    status: int | None = 200

    async def send_to(self, writer: ResponseWriter) -> None:
        """Send paragraphs until the size is reached."""
        if writer.send_head(Response(), self.size):
            block = PARAGRAPH * (CHUNK // len(PARAGRAPH))
            for begins in range(0, self.size, len(block)):
                await writer.write(block[: self.size - begins])


@dataclass(frozen=True, slots=True)
class GzipBomb:
    """Send a small gzip body that decompresses to `size` bytes."""

    size: int
    status: int | None = 200

    async def send_to(self, writer: ResponseWriter) -> None:
        """Compress in a thread, because it takes a second, then send."""
        body = await asyncio.get_running_loop().run_in_executor(None, _gzip_of_spaces, self.size)
        writer.send(Response(200, body, headers=(("Content-Encoding", "gzip"),)))


@lru_cache(maxsize=4)
def _gzip_of_spaces(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b" " * 2**20
    parts = [
        packer.compress(block[: min(len(block), size - begins)]) for begins in range(0, size, len(block))
    ]
    return b"".join((*parts, packer.flush()))
