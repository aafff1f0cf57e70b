"""Limit the headers of responses: Twisted bounds one line, and neither their number nor folded lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy.exceptions import DownloadFailedError
from twisted.web._newclient import HTTPClientParser

# Browsers stop at about this size too.
MAX_HEADER_BYTES = 256 * 1024
IN_HEADERS = ("STATUS", "HEADER")


class HeadersTooLarge(Exception):
    """The headers of a response are larger than MAX_HEADER_BYTES."""


def limit_headers() -> None:
    """Abort responses with too large headers, in all connections of this process."""
    received: Any = HTTPClientParser.dataReceived
    if not hasattr(received, "is_limited"):
        HTTPClientParser.dataReceived = _limited(received)  # type: ignore[method-assign]


def is_caused_by_headers(error: DownloadFailedError) -> bool:
    reasons = getattr(error.__cause__, "reasons", ())
    return any(reason.check(HeadersTooLarge) for reason in reasons)


def _limited(received: Callable[[Any, bytes], Any]) -> Any:
    def data_received(parser: Any, data: bytes) -> Any:
        if parser.state in IN_HEADERS:
            parser.header_bytes = getattr(parser, "header_bytes", 0) + len(data)
            if parser.header_bytes > MAX_HEADER_BYTES:
                # The protocol closes the connection, and the request fails with this error.
                raise HeadersTooLarge(f"larger than {MAX_HEADER_BYTES} bytes")
        return received(parser, data)

    data_received.is_limited = True  # type: ignore[attr-defined]
    return data_received
