"""Compressed bodies for tests: every encoding, and bodies that mean two things."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]

from pricewatch.fetching.decompression import zstd


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


COMPRESSORS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "brotli": ("br", lambda data: brotli.compress(data, quality=3)),
    "raw": ("deflate", raw_deflate),
    "zstd": ("zstd", zstd.compress),
}


def _stored(data: bytes) -> bytes:
    """A deflate block that is stored as it is, and is not the last one."""
    return b"\0" + len(data).to_bytes(2, "little") + (len(data) ^ 0xFFFF).to_bytes(2, "little") + data


def _bomb(size: int) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(bytes(size)) + compressor.flush(zlib.Z_FULL_FLUSH)


def polyglot(page: bytes, megabytes: int) -> bytes:
    """A body that is a page without an end if read as zlib, and complete and long if read as raw deflate.

    The first byte of a zlib header also starts a stored block. Both readings consist of stored blocks, one of
    which contains what is a block header in the other reading.
    """
    # zlib: a header of two bytes, a stored block of 0xFFFE bytes. raw: a stored block of one byte.
    body = b"\x78" + b"\x01\x00" + b"\xfe\xff" + b"\x01" + _stored(page)
    zlib_block_end = 7 + 0xFFFE
    bomb = _bomb(1_000_000)
    for _ in range(megabytes):
        if len(body) + len(bomb) + 5 > zlib_block_end:
            body += _stored(b" " * (zlib_block_end - len(body) - 5) + b"\0\xff\xff\0\0")
            zlib_block_end += 5 + 0xFFFF
        body += bomb
    return body + b"\x01\0\0\xff\xff"
