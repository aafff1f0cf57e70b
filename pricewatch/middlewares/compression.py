"""Decompress bodies, up to the size that a page may have."""

from __future__ import annotations

import sys
import zlib
from importlib import import_module

import brotli  # type: ignore[import-untyped]
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response

from pricewatch.fetching.failures import TooLarge

# Where Scrapy finds it as well.
zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


class BoundedCompressionMiddleware(HttpCompressionMiddleware):
    def process_response(  # type: ignore[override]  # no spider argument
        self, request: Request, response: Response
    ) -> Request | Response:
        outermost = b",".join(response.headers.getlist("Content-Encoding")).split(b",")[-1].strip().lower()
        try:
            result = super().process_response(request, response)
        except IgnoreRequest as error:
            if self.stats:
                self.stats.inc_value("pricewatch/size/too_large_unpacked")
            raise TooLarge("larger than DOWNLOAD_MAXSIZE when unpacked") from error
        # Scrapy hands on the beginning of a body that was cut short; a part of a page is not the page.
        is_decoded = isinstance(result, Response) and result is not response
        if is_decoded and not is_whole(response.body, outermost, len(result.body)):
            raise ResponseDataLossError("the compressed body was cut short")
        return result


def is_whole(packed: bytes, encoding: bytes, unpacked_size: int) -> bool:
    """Whether a compressed body has its end; Scrapy has decompressed it, so it is not too large."""
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
    if encoding == b"zstd":
        frame = zstd.ZstdDecompressor()
        frame.decompress(packed)
        return bool(frame.eof)
    return True


def _zlib_ends(packed: bytes, kind: int) -> bool:
    unpacker = zlib.decompressobj(kind)
    try:
        unpacker.decompress(packed)
    except zlib.error:
        return False
    return unpacker.eof
