"""Proxies: a proxy that fails is blocked for the domain for a while; logs contain names, no credentials."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fetching.conftest import Report, Site

SECRET = "s3cr3t-pa55"
COOLDOWN = 31 * 60


class Proxies:
    """The proxies of the marketplace, as settings."""

    def __init__(self, site: Site) -> None:
        self.names = [urlsplit(url).netloc for url in site.bazaar.proxies]
        self.urls = [f"http://user{n}:{SECRET}@{name}" for n, name in enumerate(self.names)]

    def settings(self, *numbers: int, kind: str = "datacenter") -> dict[str, str]:
        return {f"PROXIES_{kind.upper()}": ", ".join(self.urls[n] for n in numbers)}

    def number(self, name: str) -> int:
        return self.names.index(name)


@pytest.fixture
def proxies(site: Site) -> Proxies:
    # One at a time, so that a failure is recorded before the next request.
    site.source(proxy_strategy="datacenter", cooldown_minutes=30, requests_per_second=50, max_concurrent=1)
    site.source("other-test.com", proxy_strategy="datacenter", cooldown_minutes=30)
    return Proxies(site)


def used(report: Report, path: str = "/c/") -> list[int | None]:
    return [entry.proxy for entry in report.log if entry.path.startswith(path)]


def assert_no_secret(site: Site, report: Report) -> None:
    """Check logs, stats, errors, the `meta` and headers that a spider gets, and the database."""
    encoded = base64.b64encode(f"user0:{SECRET}".encode()).decode()
    rows = site.database.rows("SELECT * FROM proxy_blocks")
    for text in (report.output, repr(report.stats), repr(report.results), repr(rows)):
        assert SECRET not in text
        assert encoded not in text


def test_all_requests_use_the_proxies_with_their_credentials(site: Site, proxies: Proxies) -> None:
    report = site.fetch(*(site.url(f"/c/bikes?page={n}") for n in range(1, 7)), **proxies.settings(0, 1))
    assert all(result["status"] == 200 for result in report.results)
    # Alternating, robots.txt included, and never directly.
    assert Counter(used(report, "/")) == {0: 4, 1: 3}
    for entry in report.log:
        credentials = base64.b64encode(f"user{entry.proxy}:{SECRET}".encode()).decode()
        assert entry.header("proxy-authorization") == f"Basic {credentials}"
    assert {result["proxy_name"] for result in report.results} == set(proxies.names[:2])
    assert_no_secret(site, report)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"action": "reset"}, "DownloadFailedError"),
        ({"action": "hang"}, "DownloadTimeoutError"),
        ({"action": "status", "status": 407}, "status 407"),
        ({"action": "status", "status": 403}, "status 403"),
        ({"action": "status", "status": 502}, "status 502"),
        ({"action": "captcha"}, "blocked page"),
    ],
)
def test_failed_proxy_is_blocked_until_its_cooldown_ends(
    site: Site, proxies: Proxies, fault: dict[str, object], error: str
) -> None:
    site.bazaar.fault(path="^/c/", host="bazaar-test.com", proxy=0, **fault)  # type: ignore[arg-type]
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 5)]
    others = [site.url(f"/c/bikes?page={n}", "www.other-test.com") for n in range(1, 5)]
    settings: dict[str, Any] = {**proxies.settings(0, 1), "DOWNLOAD_TIMEOUT": 1}
    first = site.fetch(*pages, **settings)
    row = site.database.row("SELECT * FROM proxy_blocks")
    assert (row.domain, row.proxy, row.failure_count) == ("bazaar-test.com", proxies.names[0], 1)
    assert error in row.last_error
    assert round((row.blocked_until - row.failed_at).total_seconds()) == 30 * 60
    assert used(first).count(0) == 1
    assert_no_secret(site, first)
    # Another process respects the block and uses the proxy for other domains, until the cooldown ends.
    site.bazaar.clear_log()
    soon = site.fetch(*pages, *others, later=60, **settings)
    assert {entry.proxy for entry in soon.log if entry.host.startswith("www.bazaar")} == {1}
    assert {entry.proxy for entry in soon.log if entry.host.startswith("www.other")} == {0, 1}
    site.bazaar.clear_faults()
    site.bazaar.clear_log()
    assert set(used(site.fetch(*pages, later=COOLDOWN, **settings))) == {0, 1}


def test_network_error_is_retried_through_another_proxy(site: Site, proxies: Proxies) -> None:
    site.bazaar.fault("reset", "^/c/", proxy=0)
    site.bazaar.fault("reset", "^/c/", proxy=1)
    report = site.fetch(site.url("/c/bikes"), **proxies.settings(0, 1, 2))
    assert report[0]["status"] == 200
    assert len(set(used(report))) == len(used(report))
    assert used(report)[-1] == 2


def test_requests_fail_if_all_proxies_are_blocked(site: Site, proxies: Proxies) -> None:
    site.bazaar.fault("status", proxy=0, status=407)
    site.bazaar.fault("status", proxy=1, status=407)
    report = site.fetch(site.url("/c/bikes"), site.url("/c/toys"), **proxies.settings(0, 1))
    assert {result["reason"] for result in report.results} == {"no_proxy"}
    later = site.fetch(site.url("/c/phones"), **proxies.settings(0, 1))
    assert later[0]["reason"] == "no_proxy"
    assert later[0]["message"].startswith("all 2 datacenter proxies are blocked for bazaar-test.com until ")
    assert None not in used(later, "/")
    assert later.stat("proxies/none_left") == 1
    assert_no_secret(site, later)


def test_missing_proxies_are_reported(site: Site, proxies: Proxies) -> None:
    report = site.fetch(site.url("/c/bikes"))
    assert report[0]["message"] == "bazaar-test.com requires datacenter proxies: set PROXIES_DATACENTER"
    assert report.log == []


def test_requests_wait_for_the_end_of_a_block_if_allowed(site: Site, proxies: Proxies) -> None:
    site.database.do(
        "INSERT INTO proxy_blocks (domain, proxy, failed_at, blocked_until)"
        " VALUES ('bazaar-test.com', :proxy, now(), now() + interval '1.5 seconds')",
        proxy=proxies.names[0],
    )
    report = site.fetch(site.url("/c/bikes"), PROXIES_MAX_WAIT=10, **proxies.settings(0))
    assert report[0]["status"] == 200
    assert set(used(report, "/")) == {0}


def test_residential_proxies_rotate_and_are_never_blocked(site: Site) -> None:
    site.source(proxy_strategy="residential")
    proxies = Proxies(site)
    site.bazaar.fault("reset", "^/c/", proxy=0)
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 9)]
    report = site.fetch(*pages, **proxies.settings(0, 1, kind="residential"))
    assert all(result["status"] == 200 for result in report.results)
    assert used(report).count(0) > 1
    assert site.database.rows("SELECT * FROM proxy_blocks") == []
    assert_no_secret(site, report)


def test_https_requests_use_the_proxies(site: Site, proxies: Proxies) -> None:
    """The marketplace does not support TLS; the request log shows that only the proxy was used."""
    url = site.url("/c/bikes").replace("http://", "https://")
    report = site.fetch(url, ROBOTSTXT_OBEY=False, RETRY_TIMES=0, DOWNLOAD_TIMEOUT=1, **proxies.settings(0))
    assert [(entry.method, entry.proxy) for entry in report.log] == [("CONNECT", 0)]
    assert report.log[0].header("proxy-authorization")
    assert_no_secret(site, report)


def test_strategy_none_connects_directly(site: Site) -> None:
    site.source(proxy_strategy="none")
    report = site.fetch(site.url("/c/bikes"), **Proxies(site).settings(0, 1))
    assert used(report, "/") == [None, None]


def test_middleware_can_be_disabled(site: Site, proxies: Proxies) -> None:
    report = site.fetch(site.url("/c/bikes"), PROXIES_ENABLED=False, **proxies.settings(0))
    assert used(report, "/") == [None, None]
