"""Names that a proxy would resolve: their addresses are checked before the proxy gets the request."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from scrapy.settings import Settings

from pricewatch.fetching.failures import RefusedAddress, UnresolvedName
from pricewatch.fetching.name_resolution import AddressPolicy
from tests.fetching.conftest import Report, Site

INSIDE = "inside.bazaar-test.com"
UNKNOWN = "shop.bazaar-test.invalid"


def through_proxy(site: Site, *urls: str, **settings: Any) -> Report:
    """Fetch through a proxy of the source; the name INSIDE has a private address."""
    site.url("/")
    hosts = {**dict.fromkeys(site.names, "127.0.0.1"), INSIDE: "10.0.0.1"}
    changes = {"PROXIES_DATACENTER": site.bazaar.proxies[0], "HOSTS": hosts, "RETRY_TIMES": 0, **settings}
    return site.fetch(*urls, **changes)


def test_names_with_private_addresses_do_not_reach_the_proxy(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    site.bazaar.fault("redirect", "^/old", to=f"http://{INSIDE}:{site.port}/secret")
    report = through_proxy(
        site,
        f"http://{INSIDE}/secret",
        f"https://{INSIDE}/secret",
        site.url("/old"),
        site.url("/help"),
    )
    assert [result.get("reason") for result in report.results] == ["refused_address"] * 3 + [None]
    assert report[0]["message"].startswith(f"{INSIDE} resolves to 10.0.0.1, which is not a public address")
    assert report.stat("guard/refused_address") == 3
    assert {(entry.method, entry.host.partition(":")[0]) for entry in report.log} == {
        ("GET", "www.bazaar-test.com")
    }
    # The proxy is not at fault.
    assert report.stat("proxies/failed") == 0
    assert site.database.rows("SELECT * FROM proxy_blocks") == []


def test_names_are_checked_for_proxies_that_a_spider_or_the_environment_sets(site: Site) -> None:
    site.source()
    name, proxy, page = INSIDE, site.bazaar.proxies[0], site.url("/help")
    report = site.fetch(
        *({"url": url, "meta": {"proxy": proxy}} for url in (f"http://{name}/secret", page)),
        HOSTS={"www.bazaar-test.com": "127.0.0.1", name: "192.168.1.1"},
        ALLOWED_PRIVATE_HOSTS=["www.bazaar-test.com", proxy],
        # robots.txt would be requested without this proxy.
        ROBOTSTXT_OBEY=False,
    )
    assert (report[0].get("reason"), report[1]["status"]) == ("refused_address", 200)
    assert {entry.proxy for entry in report.log} == {0}
    assert not [entry for entry in report.log if name in entry.host]


def test_names_that_cannot_be_checked_are_refused_unless_a_setting_allows_them(site: Site) -> None:
    site.source("bazaar-test.invalid", proxy_strategy="datacenter")
    urls = (f"http://{UNKNOWN}:{site.port}/help", f"http://{INSIDE}.invalid/")
    refused = through_proxy(site, urls[0])
    assert refused[0]["reason"] == "unresolved_name"
    assert refused[0]["message"].startswith(f"this machine cannot resolve {UNKNOWN}, so it cannot check")
    assert "PROXIES_RESOLVE_UNKNOWN_NAMES=yes" in refused[0]["message"]
    assert refused.stat("guard/unresolved_name") == 1
    assert refused.log == []
    assert site.database.rows("SELECT * FROM proxy_blocks") == []
    hosts = {f"{INSIDE}.invalid": "10.0.0.1"}
    allowed = through_proxy(site, *urls, PROXIES_RESOLVE_UNKNOWN_NAMES="yes", HOSTS=hosts)
    assert (allowed[0]["status"], allowed[1].get("reason")) == (200, "refused_address")


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy may choose any of the addresses."""
    lookups: list[str] = []

    def answer(host: str, *_args: Any, **_kwargs: Any) -> list[Any]:
        lookups.append(host)
        if host == "unknown.test":
            raise socket.gaierror
        addresses = ["8.8.8.8", "10.0.0.1"] if host == "mixed.test" else ["8.8.8.8", "8.8.4.4"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)

    async def check() -> None:
        policy = AddressPolicy(Settings())
        for _ in range(2):
            await policy.check_for_proxy("public.test", 80)
            with pytest.raises(RefusedAddress, match=r"mixed\.test resolves to 10\.0\.0\.1"):
                await policy.check_for_proxy("mixed.test", 443)
            with pytest.raises(UnresolvedName):
                await policy.check_for_proxy("unknown.test", 443)

    asyncio.run(check())
    # Found addresses are cached, failures are not.
    assert lookups == ["public.test", "mixed.test", "unknown.test", "unknown.test"]
