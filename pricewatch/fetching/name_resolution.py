"""A DNS resolver that returns only addresses to which connections are allowed."""

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

MAX_RECORDED = 10_000


class AddressPolicy:
    """Fixed addresses (HOSTS), hosts that may be private, and the addresses that were refused."""

    def __init__(self, settings: BaseSettings):
        self.hosts = {name.lower(): address for name, address in settings.getdict("HOSTS").items()}
        self.allowed = AllowedHosts(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
        self._refused: dict[tuple[str, int], str] = {}

    def check(self, host: str, address: str, port: int) -> str | None:
        """Return and record why connections to an address are refused; Twisted only reports "not found"."""
        why = refusal(host, ipaddress.ip_address(address.partition("%")[0]), port, self.allowed)
        if why is not None:
            if len(self._refused) >= MAX_RECORDED:
                self._refused.clear()
            self._refused[host.lower(), port] = why
        return why

    def recorded_refusal(self, host: str, port: int) -> str | None:
        return self._refused.get((host.lower(), port))


@implementer(IHostnameResolver)
class GuardedResolver(CachingHostnameResolver):
    """Scrapy's resolver for IPv4 and IPv6, without addresses of private networks."""

    def __init__(self, reactor: ReactorBase, cache_size: int, settings: BaseSettings):
        super().__init__(reactor, cache_size)
        self.policy = AddressPolicy(settings)

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
        receiver: Any = _CheckingReceiver(resolutionReceiver, hostName, portNumber, self.policy)
        fixed = literal_address(self.policy.hosts.get(hostName.lower(), hostName))
        if fixed is None:
            return super().resolveHostName(receiver, hostName, portNumber, addressTypes, transportSemantics)
        # No lookup is needed, so no thread either.
        resolution: Any = HostResolution(hostName)
        receiver.resolutionBegan(resolution)
        kind: Any = IPv4Address if fixed.version == 4 else IPv6Address
        receiver.addressResolved(kind("TCP", str(fixed), portNumber))
        receiver.resolutionComplete()
        return cast("IHostResolution", resolution)


@implementer(IResolutionReceiver)
class _CheckingReceiver:
    """Pass on only the addresses to which connections are allowed."""

    def __init__(self, receiver: Any, host: str, port: int, policy: AddressPolicy):
        self._receiver = receiver
        self._host = host
        self._port = port
        self._policy = policy

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        if isinstance(address, (IPv4Address, IPv6Address)) and not self._policy.check(
            self._host, address.host, self._port
        ):
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        self._receiver.resolutionComplete()


def installed_policy() -> AddressPolicy | None:
    """Return the address policy of this process, or None if another resolver is installed."""
    from twisted.internet import reactor

    resolver = reactor.nameResolver
    return resolver.policy if isinstance(resolver, GuardedResolver) else None


def install_resolver(crawler: Any) -> AddressPolicy:
    """Return the address policy of this process; install the resolver if another one is installed."""
    from twisted.internet import reactor

    if (policy := installed_policy()) is not None:
        return policy
    resolver = GuardedResolver.from_crawler(crawler, reactor)
    resolver.install_on_reactor()
    return resolver.policy
