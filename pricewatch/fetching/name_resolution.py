"""A DNS resolver that returns only addresses to which connections are allowed."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from time import monotonic
from typing import Any, Self, cast

from scrapy.http import Request
from scrapy.resolver import CachingHostnameResolver, HostResolution
from scrapy.settings import BaseSettings
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.base import ReactorBase
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from pricewatch.fetching.failures import FetchFailure, RefusedAddress, UnresolvedName
from pricewatch.rules.access.addresses import PORTS, AllowedHosts, literal_address, refusal
from pricewatch.rules.yes_or_no import is_yes

MAX_RECORDED = 10_000
# How long the addresses of a name are used again, and how long a lookup may take.
CACHE_SECONDS = 60.0
LOOKUP_SECONDS = 20.0
UNRESOLVED = (
    "this machine cannot resolve {host}, so it cannot check where a proxy would connect to; "
    "if only your proxies can resolve names, set PROXIES_RESOLVE_UNKNOWN_NAMES=yes"
)


class AddressPolicy:
    """Fixed addresses (HOSTS), hosts that may be private, and the addresses that were refused."""

    def __init__(self, settings: BaseSettings):
        self.hosts = {name.lower(): address for name, address in settings.getdict("HOSTS").items()}
        self.allowed = AllowedHosts(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
        self._proxies_resolve = is_yes(settings.get("PROXIES_RESOLVE_UNKNOWN_NAMES"))
        self._resolved: dict[str, tuple[float, list[str]]] = {}
        self._failures: dict[tuple[str, int], tuple[type[FetchFailure], str]] = {}

    def check(self, host: str, address: str, port: int) -> str | None:
        """Return and record why connections to an address are refused; Twisted only reports "not found"."""
        why = refusal(host, ipaddress.ip_address(address.partition("%")[0]), port, self.allowed)
        if why is not None:
            self._record(host, port, RefusedAddress, why)
        return why

    async def check_for_proxy(self, host: str, port: int) -> None:
        """Raise a failure unless all addresses of a host are allowed: a proxy resolves the name again."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                addresses = await self.resolve(host)
        except (OSError, TimeoutError, UnicodeError):
            if self._proxies_resolve:
                return
            raise self._record(host, port, UnresolvedName, UNRESOLVED.format(host=host)) from None
        for address in addresses:
            if why := self.check(host, address, port):
                raise RefusedAddress(why)

    async def resolve(self, host: str) -> list[str]:
        """Return all addresses of a host, allowed or not; raise OSError if it has none."""
        name = host.lower()
        fixed = literal_address(self.hosts.get(name, name))
        if fixed is not None:
            return [str(fixed)]
        expires_at, addresses = self._resolved.get(name, (0.0, []))
        if monotonic() >= expires_at:
            found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
            if len(self._resolved) >= MAX_RECORDED:
                self._resolved.clear()
            self._resolved[name] = monotonic() + CACHE_SECONDS, addresses
        return addresses

    def recorded_failure(self, host: str, port: int) -> FetchFailure | None:
        """Return why the last connection to a host and port was refused."""
        failure, why = self._failures.get((host.lower(), port), (None, ""))
        return failure(why) if failure else None

    def _record(self, host: str, port: int, failure: type[FetchFailure], why: str) -> FetchFailure:
        if len(self._failures) >= MAX_RECORDED:
            self._failures.clear()
        self._failures[host.lower(), port] = failure, why
        return failure(why)


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


def host_and_port(request: Request) -> tuple[str, int]:
    url = urlparse_cached(request)
    return url.hostname or "", url.port or PORTS[url.scheme]


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
