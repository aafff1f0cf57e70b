"""Decompress bodies up to DOWNLOAD_MAXSIZE, and reject incomplete ones."""

from __future__ import annotations

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from pricewatch.fetching.decompression import decompress
from pricewatch.fetching.failures import TooLarge

# Servers use one, and proxies sometimes add another one.
MAX_ENCODINGS = 3


class BoundedCompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware with another decompressor: Scrapy's returns the beginning of an incomplete body."""

    def _handle_encoding(
        self, body: bytes, content_encoding: list[bytes], max_size: int
    ) -> tuple[bytes, list[bytes]]:
        to_decode, to_keep = self._split_encodings(content_encoding)
        try:
            if len(to_decode) > MAX_ENCODINGS:
                raise TooLarge(f"compressed more than {MAX_ENCODINGS} times")
            for encoding in to_decode:
                body = decompress(body, encoding, max_size)
        except TooLarge:
            if self.stats:
                self.stats.inc_value("pricewatch/size/too_large_unpacked")
            raise
        return body, to_keep
