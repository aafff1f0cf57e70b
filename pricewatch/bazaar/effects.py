"""Answers that take their time or never become whole: each plays out on the client's connection."""

import asyncio
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from pricewatch.bazaar.messages import Response

CHUNK = 2**16
PARAGRAPH = b"<p>" + b"Lorem ipsum dolor sit amet, consetetur sadipscing elitr. " * 18 + b"</p>\n"


class Wire(Protocol):
    """What an effect may do with a connection."""

    def send(self, response: Response) -> None:
        """Write a complete answer."""

    def send_head(self, response: Response, length: int) -> bool:
        """Write only what comes before the body; False where no body may follow (HEAD)."""

    async def write(self, data: bytes) -> None:
        """Write part of a body; waits while the client does not read."""

    def reset(self) -> None:
        """End the connection with a TCP reset."""

    def close(self) -> None:
        """End the connection after what was written."""

    def hand_over(self) -> bytes:
        """Give the socket away; returns what was read from it but not used."""

    @property
    def transport(self) -> asyncio.Transport:
        """The socket itself."""


class Effect(Protocol):
    """An answer that plays out over time. `status` is for the log: None where no status is ever sent."""

    @property
    def status(self) -> int | None:
        """The status that the client gets to see."""

    async def play(self, wire: Wire) -> None:
        """Do it."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Says nothing; after `seconds`, if given, the normal answer."""

    response: Response
    seconds: float | None

    @property
    def status(self) -> int | None:
        """None while it hangs for ever."""
        return None if self.seconds is None else self.response.status

    async def play(self, wire: Wire) -> None:
        """Wait; the server cancels it when the client leaves."""
        if self.seconds is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(self.seconds)
            wire.send(self.response)


@dataclass(frozen=True, slots=True)
class Hold:
    """Keeps the normal answer back until the fault is lifted."""

    response: Response
    lifted: asyncio.Event

    @property
    def status(self) -> int | None:
        """The status of the normal answer."""
        return self.response.status

    async def play(self, wire: Wire) -> None:
        """Wait, then answer."""
        await self.lifted.wait()
        wire.send(self.response)


@dataclass(frozen=True, slots=True)
class Drip:
    """Sends the normal answer a few bytes at a time."""

    response: Response
    size: int
    interval: float

    @property
    def status(self) -> int | None:
        """The status of the normal answer."""
        return self.response.status

    async def play(self, wire: Wire) -> None:
        """Send a piece, wait, and so on."""
        body = self.response.body
        if wire.send_head(self.response, len(body)):
            for begins in range(0, len(body), self.size):
                await asyncio.sleep(self.interval)
                await wire.write(body[begins : begins + self.size])


@dataclass(frozen=True, slots=True)
class Reset:
    """Ends the connection with a TCP reset instead of an answer."""

    status: int | None = None

    async def play(self, wire: Wire) -> None:
        """Reset."""
        wire.reset()


@dataclass(frozen=True, slots=True)
class Truncate:
    """Promises the whole answer, sends the beginning, and hangs up."""

    response: Response
    keep: int | None

    @property
    def status(self) -> int | None:
        """The status of the normal answer."""
        return self.response.status

    async def play(self, wire: Wire) -> None:
        """Send less than promised."""
        body = self.response.body
        # One byte more than there is, so that even an empty answer is cut short.
        if wire.send_head(self.response, len(body) + 1):
            await wire.write(body[: len(body) // 2 if self.keep is None else self.keep])
        wire.close()


@dataclass(frozen=True, slots=True)
class Flood:
    """Sends a page of any size without ever holding it in memory."""

    size: int
    status: int | None = 200

    async def play(self, wire: Wire) -> None:
        """Send paragraphs until it is enough."""
        if wire.send_head(Response(), self.size):
            block = PARAGRAPH * (CHUNK // len(PARAGRAPH))
            for begins in range(0, self.size, len(block)):
                await wire.write(block[: self.size - begins])


@dataclass(frozen=True, slots=True)
class GzipBomb:
    """Sends a small gzip that inflates to `size` bytes."""

    size: int
    status: int | None = 200

    async def play(self, wire: Wire) -> None:
        """Compress off the loop, for it takes a second, then send."""
        body = await asyncio.get_running_loop().run_in_executor(None, _bomb, self.size)
        wire.send(Response(200, body, headers=(("Content-Encoding", "gzip"),)))


@lru_cache(maxsize=4)
def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b" " * 2**20
    parts = [
        packer.compress(block[: min(len(block), size - begins)]) for begins in range(0, size, len(block))
    ]
    return b"".join((*parts, packer.flush()))
