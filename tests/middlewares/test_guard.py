"""The guard: a listening server counts the connections that must not happen."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.fetching.conftest import Site


class Trap:
    """A server on this machine to which nothing may connect."""

    def __init__(self, address: str = "127.0.0.1", family: socket.AddressFamily = socket.AF_INET) -> None:
        self.connections = 0
        self._socket = socket.socket(family)
        self._socket.bind((address, 0))
        self._socket.listen()
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            client.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


REFUSED = {
    "http://169.254.169.254/latest/meta-data/": "refused_address",
    "http://[::1]:{port}/": "refused_address",
    "http://127.0.0.1:{port}/": "refused_address",
    "http://2130706433:{port}/": "refused_address",
    "http://0177.0.0.1:{port}/": "refused_address",
    "http://0x7f.1:{port}/": "refused_address",
    "http://127.1:{port}/": "refused_address",
    "http://0:{port}/": "refused_address",
    "http://[::ffff:127.0.0.1]:{port}/": "refused_address",
    "http://[64:ff9b::7f00:1]:{port}/": "refused_address",
    "http://10.0.0.1/": "refused_address",
    "http://192.168.1.1/": "refused_address",
    "http://100.64.0.1/": "refused_address",
    "http://localhost:{port}/": "refused_address",
    "http://named-test.com:{port}/": "refused_address",
    "http://mapped-test.com:{port}/": "refused_address",
    "file:///etc/passwd": "refused_url",
    "ftp://127.0.0.1:{port}/": "refused_url",
    "data:text/html,hello": "refused_url",
    "http://user:password@shop-test.com:{port}/": "refused_url",
}


def test_private_addresses_are_refused_counted_and_never_connected_to(site: Site, trap: Trap) -> None:
    # Without rate limit and robots.txt, only the guard can refuse a request.
    report = site.fetch(
        *(url.format(port=trap.port) for url in REFUSED),
        HOSTS={"named-test.com": "127.0.0.1", "mapped-test.com": "::ffff:127.0.0.1"},
        RATE_LIMIT_ENABLED=False,
        ROBOTSTXT_OBEY=False,
    )
    for number, (url, reason) in enumerate(REFUSED.items()):
        assert (url, report[number].get("reason")) == (url, reason)
    assert report.stat("guard/refused_address") == sum(why == "refused_address" for why in REFUSED.values())
    assert report.stat("guard/refused_url") == sum(why == "refused_url" for why in REFUSED.values())
    assert trap.connections == 0


def test_a_refusal_names_the_setting_that_allows_it(site: Site, trap: Trap) -> None:
    """A host name in a source does not allow private addresses; only an address does."""
    site.source("named-test.com", base_url=f"http://named-test.com:{trap.port}")
    report = site.fetch(f"http://named-test.com:{trap.port}/", HOSTS={"named-test.com": "127.0.0.1"})
    assert report[0]["reason"] == "refused_address"
    allow = f"ALLOWED_PRIVATE_HOSTS=named-test.com:{trap.port}"
    assert (
        f"resolves to 127.0.0.1, which is not a public address; if it is yours, allow it with {allow}"
        in (report[0]["message"])
    )
    assert trap.connections == 0


def test_robots_txt_of_a_private_address_is_not_requested(site: Site, trap: Trap) -> None:
    report = site.fetch(
        f"http://named-test.com:{trap.port}/", HOSTS={"named-test.com": "127.0.0.1"}, RATE_LIMIT_ENABLED=False
    )
    assert report[0]["reason"] == "refused_address"
    assert trap.connections == 0


def test_without_the_guard_the_server_is_reached(site: Site, trap: Trap) -> None:
    """With the hosts allowed all three requests connect, so the other tests can fail."""
    report = site.fetch(
        f"http://127.0.0.1:{trap.port}/",
        f"http://2130706433:{trap.port}/",
        f"http://named-test.com:{trap.port}/",
        HOSTS={"named-test.com": "127.0.0.1"},
        ALLOWED_PRIVATE_HOSTS=["127.0.0.0/8", "named-test.com"],
        RATE_LIMIT_ENABLED=False,
        ROBOTSTXT_OBEY=False,
        RETRY_TIMES=0,
    )
    assert all(result["error"] == "DownloadFailedError" for result in report.results)
    assert trap.connections == 3


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://10.0.0.1/", "refused_address"),
        ("http://127.0.0.1:{port}/", "refused_address"),
        ("http://2130706433:{port}/", "refused_address"),
        ("http://elsewhere-test.com:{port}/", "offsite_redirect"),
        ("file:///etc/passwd", "refused_url"),
        ("javascript:history.back()", "refused_url"),
        ("http://[::1/", "refused_url"),
        ("http://www.bazaar-test.com:99999999/", "refused_url"),
    ],
)
def test_forbidden_redirects_are_refused(site: Site, trap: Trap, target: str, reason: str) -> None:
    site.source()
    site.url("/", "elsewhere-test.com")
    site.bazaar.fault("redirect", "^/old", to=target.format(port=trap.port))
    report = site.fetch(site.url("/old"))
    assert report[0]["reason"] == reason
    assert trap.connections == 0


def test_redirect_to_a_subdomain_with_a_private_address_is_refused(site: Site, trap: Trap) -> None:
    """The address is only known when connecting."""
    site.source()
    page = site.url("/old")
    site.bazaar.fault("redirect", "^/old", to=f"http://inside.bazaar-test.com:{trap.port}/")
    report = site.fetch(
        page, HOSTS={"www.bazaar-test.com": "127.0.0.1", "inside.bazaar-test.com": "127.0.0.1"}
    )
    assert report[0]["reason"] == "refused_address"
    assert trap.connections == 0


def test_redirects_within_the_site_are_followed(site: Site) -> None:
    site.source()
    site.bazaar.fault("redirect", "^/old", to=site.url("/c/bikes", "shop.bazaar-test.com"))
    report = site.fetch(site.url("/old"))
    assert report[0]["final_url"] == site.url("/c/bikes", "shop.bazaar-test.com")
    assert report[0]["redirect_urls"] == [site.url("/old")]


def test_endless_redirects_fail(site: Site) -> None:
    site.source()
    site.bazaar.fault("redirect_loop", "^/old")
    report = site.fetch(site.url("/old"))
    assert report[0]["reason"] == "too_many_redirects"
    assert sum(entry.path == "/old" for entry in report.log) == 6


def test_configured_address_of_a_source_is_allowed(site: Site, trap: Trap) -> None:
    site.database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=site.bazaar.url)
    report = site.fetch(f"{site.bazaar.url}/c/bikes", f"http://127.0.0.1:{trap.port}/")
    assert report[0]["status"] == 200
    # Other ports stay refused.
    assert report[1]["reason"] == "refused_address"
    assert trap.connections == 0


def test_pages_larger_than_the_limit_are_refused(site: Site) -> None:
    site.source()
    site.bazaar.fault("big_body", "^/c/bikes", bytes=3_000_000)
    site.bazaar.fault("gzip_bomb", "^/c/toys", bytes=30_000_000)
    site.bazaar.fault("slow", "^/c/phones", bytes=10, interval=0.2)
    report = site.fetch(
        site.url("/c/bikes"),
        site.url("/c/toys"),
        site.url("/c/phones"),
        DOWNLOAD_MAXSIZE=1_000_000,
        DOWNLOAD_TIMEOUT=1,
        RETRY_TIMES=0,
    )
    assert [result.get("reason") for result in report.results] == ["too_large", "too_large", None]
    assert (report.stat("size/too_large"), report.stat("size/too_large_unpacked")) == (1, 1)
    assert report[2]["error"] == "DownloadTimeoutError"


def test_headers_larger_than_the_limit_are_refused(site: Site) -> None:
    site.source()
    for path, number in (("/many", 30), ("/some", 10)):
        headers = {f"X-Header-{index}": "a" * 15_000 for index in range(number)}
        site.bazaar.fault("respond", f"^{path}", headers=headers, body="<h1>x</h1>")
    report = site.fetch(site.url("/many"), site.url("/some"))
    assert (report[0]["reason"], report[1]["status"]) == ("too_large", 200)
    assert report.stat("size/too_large") == 1
    # It is not requested again.
    assert [entry.path for entry in report.log].count("/many") == 1


def test_long_urls_are_refused(site: Site) -> None:
    """Every rule of robots.txt is compared with the URL."""
    site.source()
    site.bazaar.fault("redirect", "^/long", to="/" + "a" * 3_000)
    report = site.fetch(site.url("/long"))
    assert report[0]["reason"] == "refused_url"
    assert not any(len(entry.path) > 2_083 for entry in report.log)


def test_middleware_can_be_disabled(site: Site) -> None:
    report = site.fetch(site.url("/help"), GUARD_ENABLED=False)
    assert "guard.GuardMiddleware" not in report.output
    assert "robots.RobotsMiddleware" in report.output
