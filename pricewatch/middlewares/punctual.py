"""Sends a request in time or not at all: the last look at the clock before it is on the wire."""

from __future__ import annotations

from time import monotonic
from typing import Any

from scrapy.core.downloader.handlers.http11 import _LenientHTTP11ClientFactory, _LenientHTTP11ClientProtocol
from twisted.internet.defer import Deferred, fail
from twisted.internet.tcp import Connection
from twisted.web.iweb import IResponse

# Travels with a request as far as the connection, and no further.
SEND_BEFORE = b"X-Pricewatch-Send-Before"


class TurnMissed(Exception):
    """Connecting took too long, or the machine is busy: the request was not sent and needs another turn."""


class PunctualProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: Any) -> Deferred[IResponse]:
        before = request.headers.getRawHeaders(SEND_BEFORE)
        if before:
            request.headers.removeHeader(SEND_BEFORE)
            if monotonic() > float(before[0]):
                # The connection was not used: the next request may have it.
                self._quiescentCallback(self)
                return fail(TurnMissed("the turn was over before the request could be sent"))
        sent: Deferred[IResponse] = super().request(request)
        if before and isinstance(self.transport, Connection):
            # Not when the event loop comes round again: it may have a page to read first.
            self.transport.doWrite()
        return sent


class PunctualFactory(_LenientHTTP11ClientFactory):
    noisy = False

    def buildProtocol(self, addr: Any) -> PunctualProtocol:  # noqa: N802 - Twisted's name
        return PunctualProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
