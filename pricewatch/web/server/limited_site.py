"""The factory of connections: applies the limits, and counts the connections of each address."""

from __future__ import annotations

from collections import Counter
from typing import Any

from twisted.internet.interfaces import IAddress
from twisted.logger import Logger
from twisted.web.resource import Resource
from twisted.web.server import Site

from pricewatch.rules.access.client_address import counted_address
from pricewatch.web.auth import Auth
from pricewatch.web.headers import security_headers
from pricewatch.web.server.checked_request import CheckedRequest
from pricewatch.web.server.limited_channel import LimitedChannel
from pricewatch.web.server.request_limits import RequestLimits

log = Logger()


class LimitedSite(Site):
    """Does not parse forms: that is done after the login is checked."""

    protocol = LimitedChannel  # type: ignore[assignment]  # without the layer for HTTP/2, which needs TLS

    def __init__(self, resource: Resource, auth: Auth, limits: RequestLimits) -> None:
        super().__init__(resource, CheckedRequest, parsePOSTFormSubmission=False)
        self.auth = auth
        self.limits = limits
        self.headers = security_headers(auth.configuration)
        self._connections: Counter[str] = Counter()

    def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802 - twisted's name
        address = _host(addr)
        if self._connections[address] >= self.limits.connections_per_address:
            log.info("{address} has too many open connections: a new one is refused", address=address)
            return None
        if self._connections.total() >= self.limits.connections:
            log.warn("{most} connections are open: a new one is refused", most=self.limits.connections)
            return None
        return super().buildProtocol(addr)

    def count_connection(self, peer: IAddress, change: int) -> None:
        self._connections[_host(peer)] += change
        if not self._connections[_host(peer)]:
            del self._connections[_host(peer)]


def _host(address: IAddress | None) -> str:
    """The host of an address, or its network as for wrong passwords; UNIX sockets have none."""
    return counted_address(str(getattr(address, "host", "")))
