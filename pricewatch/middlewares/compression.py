"""Unpacks bodies, up to the size that a page may have."""

from __future__ import annotations

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from pricewatch.middlewares.failures import TooLarge


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
