"""The browser's forward proxy: it asks for its password, and checks every address that a page needs."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from pricewatch.bazaar.client import Bazaar
from pricewatch.fetching.browser.forward_proxy import ForwardProxy
from pricewatch.fetching.name_resolution import AddressPolicy
from pricewatch.rules.proxy_config import Proxy, parse_proxies
from tests.fetching.conftest import Site

INSIDE = "inside.bazaar-test.com"
RESOURCES = f"""<!doctype html><title>Resources</title><p>loaded</p>
<iframe src="http://{INSIDE}/frame"></iframe><script src="http://{INSIDE}/script.js"></script><script>
fetch("https://{INSIDE}/tunnel", {{mode: "no-cors"}}).catch(() => {{}});
fetch("/to-inside").catch(() => {{}});
new WebSocket("ws://{INSIDE}/socket");
</script>"""

Ask = Callable[[ForwardProxy, dict[str, str]], Awaitable[None]]


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


def with_proxy(bazaar: Bazaar, ask: Ask, upstream: Proxy | None = None) -> None:
    """Run a forward proxy that may connect to the marketplace."""

    async def run() -> None:
        allowed = {"ALLOWED_PRIVATE_HOSTS": [bazaar.url], "HOSTS": {INSIDE: "10.0.0.1"}}
        proxy = ForwardProxy(AddressPolicy(Settings(allowed)), StatsCollector(get_crawler()), 1_000_000)
        try:
            await ask(proxy, await proxy.for_browser(upstream))
        finally:
            await proxy.close()
            if connections := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(connections, timeout=10)

    asyncio.run(run())


async def send(server: str, line: str, *headers: str) -> str:
    """Send a request to the forward proxy and return the head of its response."""
    address = urlsplit(server)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write("\r\n".join([f"{line} HTTP/1.1", "Host: x", *headers, "", ""]).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.decode()


def test_requests_without_the_password_are_refused(bazaar: Bazaar) -> None:
    async def ask(proxy: ForwardProxy, options: dict[str, str]) -> None:
        server, right = options["server"], f"{options['username']}:{options['password']}"
        wrong: tuple[list[str], ...] = (
            [],
            ["Proxy-Authorization: " + basic(f"{options['username']}:")],
            ["Proxy-Authorization: " + basic(f"{options['username']}:{options['password'][:-1]}")],
            ["Proxy-Authorization: Basic", "X: y"],
            ["Proxy-Authorization: Bearer " + options["password"]],
            ["Authorization: " + basic(right)],
        )
        netloc = urlsplit(bazaar.url).netloc
        for line in (f"GET {bazaar.url}/help", f"CONNECT {netloc}"):
            for headers in wrong:
                head = await send(server, line, *headers)
                assert head.startswith("HTTP/1.1 407 ")
                assert 'Proxy-Authenticate: Basic realm="pricewatch"' in head
        assert bazaar.log() == []
        for line in (f"GET {bazaar.url}/help", f"CONNECT {netloc}"):
            head = await send(server, line, "proxy-authorization: " + basic(right))
            assert head.startswith("HTTP/1.1 200 ")
        (entry,) = bazaar.log()
        assert entry.header("proxy-authorization") is None

    with_proxy(bazaar, ask)


def test_every_crawl_has_its_own_password(bazaar: Bazaar) -> None:
    passwords: set[str] = set()

    async def ask(proxy: ForwardProxy, options: dict[str, str]) -> None:
        passwords.add(options["password"])
        assert (await proxy.for_browser())["password"] == options["password"]

    for _ in range(3):
        with_proxy(bazaar, ask)
    assert len(passwords) == 3
    assert min(map(len, passwords)) >= 32


@pytest.mark.parametrize("line", ["GET http://{}/", "CONNECT {}:443"])
@pytest.mark.parametrize("through", ["directly", "a proxy"])
@pytest.mark.parametrize(
    ("host", "expected"),
    [(INSIDE, "403"), ("169.254.169.254", "403"), ("168.63.129.16", "403"), ("[::1]", "403")],
)
def test_private_addresses_are_refused(
    site_server: Bazaar, line: str, through: str, host: str, expected: str
) -> None:
    site_server.reset()
    upstream = parse_proxies(site_server.proxies[0])[0] if through == "a proxy" else None

    async def ask(proxy: ForwardProxy, options: dict[str, str]) -> None:
        password = "Proxy-Authorization: " + basic(f"{options['username']}:{options['password']}")
        head = await send(options["server"], line.format(host), password)
        assert head.startswith(f"HTTP/1.1 {expected} ")
        assert "is not a public address" in head

    with_proxy(site_server, ask, upstream)
    assert site_server.log() == []


@pytest.mark.slow
@pytest.mark.browser
def test_resources_and_redirects_of_a_page_are_checked_before_the_proxy_of_its_source(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    site.bazaar.fault("respond", "^/resources", body=RESOURCES)
    site.bazaar.fault("redirect", "^/to-inside", to=f"http://{INSIDE}/redirected")
    urls = (site.url("/resources"), site.url("/to-inside"), f"http://{INSIDE}/page", f"https://{INSIDE}/page")
    report = site.fetch(
        *({"url": url, "meta": {"playwright": True}} for url in urls),
        PROXIES_DATACENTER=site.bazaar.proxies[0],
        HOSTS={"www.bazaar-test.com": "127.0.0.1", INSIDE: "10.0.0.1"},
        ROBOTSTXT_OBEY=False,
        RETRY_TIMES=0,
    )
    assert "loaded" in report[0]["body"]
    assert [result.get("reason") for result in report.results[1:]] == ["refused_address"] * 3
    assert {(entry.host.partition(":")[0], entry.proxy) for entry in report.log} == {
        ("www.bazaar-test.com", 0)
    }
    assert report.stat("guard/refused_address") >= 6
