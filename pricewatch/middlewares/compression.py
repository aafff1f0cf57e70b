"""Decompress bodies up to DOWNLOAD_MAXSIZE, and reject incomplete ones."""

from __future__ import annotations

import sys
import zlib
from importlib import import_module

import brotli  # type: ignore[import-untyped]
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response

from pricewatch.fetching.failures import TooLarge

# As Scrapy imports it.
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
            raise TooLarge("larger than DOWNLOAD_MAXSIZE when decompressed") from error
        # Scrapy returns the beginning of a truncated body; it must not be read as a whole page.
        is_decoded = isinstance(result, Response) and result is not response
        if is_decoded and not is_complete(response.body, outermost, len(result.body)):
            raise ResponseDataLossError("the compressed body is incomplete")
        return result


def is_complete(compressed: bytes, encoding: bytes, size: int) -> bool:
    """Return whether a compressed body has its end; `size` is its length after decompression."""
    if encoding in (b"gzip", b"x-gzip"):
        # gzip ends with the size of the original, unless other bytes follow.
        stored_size = int.from_bytes(compressed[-4:], "little")
        return stored_size == size % 2**32 or _is_zlib_complete(compressed, 16 + zlib.MAX_WBITS)
    if encoding == b"deflate":
        return _is_zlib_complete(compressed, zlib.MAX_WBITS) or _is_zlib_complete(compressed, -zlib.MAX_WBITS)
    if encoding == b"br":
        decompressor = brotli.Decompressor()
        decompressor.process(compressed)
        return bool(decompressor.is_finished())
    if encoding == b"zstd":
        frame = zstd.ZstdDecompressor()
        frame.decompress(compressed)
        return bool(frame.eof)
    return True


def _is_zlib_complete(compressed: bytes, kind: int) -> bool:
    decompressor = zlib.decompressobj(kind)
    try:
        decompressor.decompress(compressed)
    except zlib.error:
        return False
    return decompressor.eof
