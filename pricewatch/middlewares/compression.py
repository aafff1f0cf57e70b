"""Unpacks bodies, up to the size that a page may have."""

from __future__ import annotations

import zlib

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.utils._compression import brotli, zstd  # type: ignore[attr-defined]  # those that scrapy found

from pricewatch.fetching.failures import TooLarge


class BoundedCompressionMiddleware(HttpCompressionMiddleware):
    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        try:
            return super().process_response(request, response)
        except IgnoreRequest as error:
            if self.stats:
                self.stats.inc_value("pricewatch/size/too_large_unpacked")
            raise TooLarge("larger than DOWNLOAD_MAXSIZE when unpacked") from error

    @staticmethod
    def _decode(body: bytes, encoding: bytes, max_size: int) -> bytes:
        """Scrapy hands on the beginning of a body that was cut short; a part of a page is not the page."""
        unpacked = HttpCompressionMiddleware._decode(body, encoding, max_size)  # noqa: SLF001 - it is ours
        if not is_whole(body, encoding, len(unpacked)):
            raise ResponseDataLossError("the packed body ends before its end")
        return unpacked


def is_whole(packed: bytes, encoding: bytes, unpacked_size: int) -> bool:
    """Whether a body that could be unpacked also came to its end; its size is known not to be too large."""
    if encoding in (b"gzip", b"x-gzip"):
        # It ends with the size of what was packed, unless something follows it.
        told = int.from_bytes(packed[-4:], "little")
        return told == unpacked_size % 2**32 or _zlib_ends(packed, 16 + zlib.MAX_WBITS)
    if encoding == b"deflate":
        return _zlib_ends(packed, zlib.MAX_WBITS) or _zlib_ends(packed, -zlib.MAX_WBITS)
    if encoding == b"br":
        unpacker = brotli.Decompressor()
        unpacker.process(packed)
        return bool(unpacker.is_finished())
    frame = zstd.ZstdDecompressor()
    frame.decompress(packed)
    return bool(frame.eof)


def _zlib_ends(packed: bytes, kind: int) -> bool:
    unpacker = zlib.decompressobj(kind)
    try:
        unpacker.decompress(packed)
    except zlib.error:
        return False
    return unpacker.eof
