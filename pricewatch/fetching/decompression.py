"""Decompress bodies in one pass, in chunks of limited size and with limited memory."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]
from scrapy.exceptions import ResponseDataLossError

from pricewatch.fetching.failures import TooLarge

# As Scrapy imports it.
zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

# The most bytes that one step reads or writes.
CHUNK = 64 * 1024
# A gzip or zstd body may be concatenated from several; each one costs memory to set up.
MAX_MEMBERS = 1_000
# 8 MB, as RFC 9659 demands of zstd as a content encoding.
ZSTD_WINDOW_LOG = 23
_ERRORS = (zlib.error, brotli.error, zstd.ZstdError)
_NULS = re.compile(rb"\0*+")
_GZIP_MAGIC = b"\x1f\x8b"


class _Decompressor(Protocol):
    """Decompresses one member; called with no data, it continues with the data that it has."""

    @property
    def unused_data(self) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def decompress(body: bytes, encoding: bytes, max_size: int) -> bytes:
    """Return the decompressed body; raises TooLarge above `max_size` (0: no limit)."""
    chunks: list[bytes] = []
    size = 0
    for chunk in decompressed_chunks(body, encoding):
        chunks.append(chunk)
        size += len(chunk)
        if 0 < max_size < size:
            raise TooLarge("larger than DOWNLOAD_MAXSIZE when decompressed")
    return b"".join(chunks)


def decompressed_chunks(body: bytes, encoding: bytes) -> Iterator[bytes]:
    """Yield chunks of at most CHUNK bytes; an invalid or incomplete body raises ResponseDataLossError."""
    position = members = 0
    while position < len(body):
        if (members := members + 1) > MAX_MEMBERS:
            raise TooLarge(f"concatenated from more than {MAX_MEMBERS} compressed bodies")
        member = _decompressor(encoding, body)
        while not member.eof:
            needs_input = member.needs_input
            data = body[position : position + CHUNK] if needs_input else b""
            position += len(data)
            try:
                chunk = member.decompress(data, CHUNK)
            except _ERRORS as error:
                raise ResponseDataLossError(f"the compressed body is invalid: {error}") from error
            if needs_input and not (data or chunk or member.eof):
                raise ResponseDataLossError("the compressed body is incomplete")
            yield chunk
        position = _next_member(encoding, body, position - len(member.unused_data))


def _decompressor(encoding: bytes, body: bytes) -> _Decompressor:
    if encoding == b"br":
        return _BrotliDecompressor()
    if encoding == b"zstd":
        window = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        decompressor: _Decompressor = zstd.ZstdDecompressor(options=window)
        return decompressor
    if encoding == b"deflate":
        return _ZlibDecompressor(zlib.MAX_WBITS if _has_zlib_header(body) else -zlib.MAX_WBITS)
    return _ZlibDecompressor(16 + zlib.MAX_WBITS)


def _has_zlib_header(body: bytes) -> bool:
    """Whether a deflate body is framed as RFC 1950 says; some servers send it without a frame."""
    return body[0] & 0x0F == zlib.DEFLATED and int.from_bytes(body[:2]) % 31 == 0


def _next_member(encoding: bytes, body: bytes, position: int) -> int:
    """Return where the next member starts, or the end of the body if the other bytes are ignored."""
    if encoding == b"deflate":
        return len(body)
    if encoding == b"br" and position < len(body):
        raise ResponseDataLossError("the compressed body has bytes after its end")
    if encoding in (b"gzip", b"x-gzip"):
        padding = _NULS.match(body, position)
        position = padding.end() if padding else position
        return position if body.startswith(_GZIP_MAGIC, position) else len(body)
    return position


class _ZlibDecompressor:
    def __init__(self, window_bits: int) -> None:
        self._stream: Any = zlib.decompressobj(window_bits)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail and not self._is_full

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        chunk: bytes = self._stream.decompress(data or self._stream.unconsumed_tail, max_length)
        # A full chunk may have more behind it, although all input was read.
        self._is_full = len(chunk) == max_length
        return chunk


class _BrotliDecompressor:
    unused_data = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    @property
    def needs_input(self) -> bool:
        return bool(self._stream.can_accept_more_data())

    def decompress(self, data: bytes, max_length: int) -> bytes:
        # The buffer grows until it exceeds the limit, and doubles each time.
        chunk: bytes = self._stream.process(data, output_buffer_limit=max_length // 4)
        return chunk
