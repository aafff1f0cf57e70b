"""Where a name leads, checked: the addresses that this resolver answers are the only ones connected to."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any, Self, cast

from scrapy.resolver import CachingHostnameResolver, HostResolution
from scrapy.settings import BaseSettings
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.base import ReactorBase
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from pricewatch.rules.addresses import AllowedHosts, literal_address, refusal

MOST_REMEMBERED = 10_000


class AddressBook:
    """Which hosts have a fixed address (HOSTS), which may be private, and which were refused and why."""

    def __init__(self, settings: BaseSettings):
        self.hosts = {name.lower(): address for name, address in settings.getdict("HOSTS").items()}
        self.allowed = AllowedHosts(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
        self._refused: dict[tuple[str, int], str] = {}

    def refusal(self, host: str, address: str, port: int) -> str | None:
        """Why this address must not be connected to; remembered, because Twisted only says "not found"."""
        why = refusal(host, ipaddress.ip_address(address.partition("%")[0]), port, self.allowed)
        if why is not None:
            if len(self._refused) >= MOST_REMEMBERED:
                self._refused.clear()
            self._refused[host.lower(), port] = why
        return why

    def refused(self, host: str, port: int) -> str | None:
        return self._refused.get((host.lower(), port))


@implementer(IHostnameResolver)
class GuardedResolver(CachingHostnameResolver):
    """Scrapy's resolver for IPv4 and IPv6, without the answers that lead into private networks."""

    def __init__(self, reactor: ReactorBase, cache_size: int, settings: BaseSettings):
        super().__init__(reactor, cache_size)
        self.book = AddressBook(settings)

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: ReactorBase) -> Self:
        settings: BaseSettings = crawler.settings
        size = settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0
        return cls(reactor, size, settings)

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> IHostResolution:
        receiver: Any = _Checking(resolutionReceiver, hostName, portNumber, self.book)
        fixed = literal_address(self.book.hosts.get(hostName.lower(), hostName))
        if fixed is None:
            return super().resolveHostName(receiver, hostName, portNumber, addressTypes, transportSemantics)
        # Nothing to look up: no thread has to be asked.
        resolution: Any = HostResolution(hostName)
        receiver.resolutionBegan(resolution)
        kind: Any = IPv4Address if fixed.version == 4 else IPv6Address
        receiver.addressResolved(kind("TCP", str(fixed), portNumber))
        receiver.resolutionComplete()
        return cast("IHostResolution", resolution)


@implementer(IResolutionReceiver)
class _Checking:
    """Passes on the addresses that may be connected to."""

    def __init__(self, receiver: Any, host: str, port: int, book: AddressBook):
        self._receiver = receiver
        self._host = host
        self._port = port
        self._book = book

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        if isinstance(address, (IPv4Address, IPv6Address)) and not self._book.refusal(
            self._host, address.host, self._port
        ):
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        self._receiver.resolutionComplete()


def address_book() -> AddressBook | None:
    """The book that this process connects by; None where another resolver is installed."""
    from twisted.internet import reactor

    resolver = reactor.nameResolver
    return resolver.book if isinstance(resolver, GuardedResolver) else None


def install(crawler: Any) -> AddressBook:
    """The book of this process, with its resolver installed where another one still is."""
    from twisted.internet import reactor

    if (book := address_book()) is not None:
        return book
    resolver = GuardedResolver.from_crawler(crawler, reactor)
    resolver.install_on_reactor()
    return resolver.book
