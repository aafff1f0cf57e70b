"""Proxies: what fails is not used for that domain for a while, what is used is logged by name only."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.middlewares.conftest import Report, Site

SECRET = "s3cr3t-pa55"
COOLDOWN = 31 * 60


class Proxies:
    """The marketplace's proxies as settings name them."""

    def __init__(self, site: Site) -> None:
        self.names = [urlsplit(url).netloc for url in site.bazaar.proxies]
        self.urls = [f"http://user{n}:{SECRET}@{name}" for n, name in enumerate(self.names)]

    def settings(self, *numbers: int, kind: str = "datacenter") -> dict[str, str]:
        return {f"PROXIES_{kind.upper()}": ", ".join(self.urls[n] for n in numbers)}

    def number(self, name: str) -> int:
        return self.names.index(name)


@pytest.fixture
def proxies(site: Site) -> Proxies:
    # One at a time, so that a failure is known before the next request goes.
    site.source(proxy_strategy="datacenter", cooldown_minutes=30, requests_per_second=50, max_concurrent=1)
    site.source("other-test.com", proxy_strategy="datacenter", cooldown_minutes=30)
    return Proxies(site)


def used(report: Report, path: str = "/c/") -> list[int | None]:
    return [entry.proxy for entry in report.log if entry.path.startswith(path)]


def assert_no_secret(site: Site, report: Report) -> None:
    """Not in logs, stats, errors, `meta` or headers that a spider sees, nor in the database."""
    encoded = base64.b64encode(f"user0:{SECRET}".encode()).decode()
    rows = site.database.rows("SELECT * FROM proxy_blocks")
    for text in (report.output, repr(report.stats), repr(report.visits), repr(rows)):
        assert SECRET not in text
        assert encoded not in text


def test_everything_goes_through_the_pool_and_logs_in(site: Site, proxies: Proxies) -> None:
    report = site.visit(*(site.url(f"/c/bikes?page={n}") for n in range(1, 7)), **proxies.settings(0, 1))
    assert all(visit["status"] == 200 for visit in report.visits)
    # In turn, robots.txt included, and never direct.
    assert Counter(used(report, "/")) == {0: 4, 1: 3}
    for entry in report.log:
        login = base64.b64encode(f"user{entry.proxy}:{SECRET}".encode()).decode()
        assert entry.header("proxy-authorization") == f"Basic {login}"
    assert {visit["proxy_name"] for visit in report.visits} == set(proxies.names[:2])
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
def test_a_proxy_that_fails_rests_and_comes_back(
    site: Site, proxies: Proxies, fault: dict[str, object], error: str
) -> None:
    site.bazaar.fault(path="^/c/", host="bazaar-test.com", proxy=0, **fault)  # type: ignore[arg-type]
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 5)]
    others = [site.url(f"/c/bikes?page={n}", "www.other-test.com") for n in range(1, 5)]
    settings: dict[str, Any] = {**proxies.settings(0, 1), "DOWNLOAD_TIMEOUT": 1}
    first = site.visit(*pages, **settings)
    row = site.database.row("SELECT * FROM proxy_blocks")
    assert (row.domain, row.proxy, row.failure_count) == ("bazaar-test.com", proxies.names[0], 1)
    assert error in row.last_error
    assert round((row.blocked_until - row.failed_at).total_seconds()) == 30 * 60
    assert used(first).count(0) == 1
    assert_no_secret(site, first)
    # Another process knows, and uses it for other domains; when the time is up, it is as good as ever.
    site.bazaar.clear_log()
    soon = site.visit(*pages, *others, later=60, **settings)
    assert {entry.proxy for entry in soon.log if entry.host.startswith("www.bazaar")} == {1}
    assert {entry.proxy for entry in soon.log if entry.host.startswith("www.other")} == {0, 1}
    site.bazaar.clear_faults()
    site.bazaar.clear_log()
    assert set(used(site.visit(*pages, later=COOLDOWN, **settings))) == {0, 1}


def test_a_network_error_is_tried_again_through_another_proxy(site: Site, proxies: Proxies) -> None:
    site.bazaar.fault("reset", "^/c/", proxy=0)
    site.bazaar.fault("reset", "^/c/", proxy=1)
    report = site.visit(site.url("/c/bikes"), **proxies.settings(0, 1, 2))
    assert report[0]["status"] == 200
    assert len(set(used(report))) == len(used(report))
    assert used(report)[-1] == 2


def test_all_blocked_is_a_clear_outcome_and_nothing_goes_direct(site: Site, proxies: Proxies) -> None:
    site.bazaar.fault("status", proxy=0, status=407)
    site.bazaar.fault("status", proxy=1, status=407)
    report = site.visit(site.url("/c/bikes"), site.url("/c/toys"), **proxies.settings(0, 1))
    assert {visit["reason"] for visit in report.visits} == {"no_proxy"}
    later = site.visit(site.url("/c/phones"), **proxies.settings(0, 1))
    assert later[0]["reason"] == "no_proxy"
    assert later[0]["message"].startswith("all 2 datacenter proxies are blocked for bazaar-test.com until ")
    assert None not in used(later, "/")
    assert later.stat("proxies/none_left") == 1
    assert_no_secret(site, later)


def test_no_pool_at_all(site: Site, proxies: Proxies) -> None:
    report = site.visit(site.url("/c/bikes"))
    assert report[0]["message"] == "bazaar-test.com wants datacenter proxies: set PROXIES_DATACENTER"
    assert report.log == []


def test_who_may_wait_waits_for_the_end_of_a_block(site: Site, proxies: Proxies) -> None:
    site.database.do(
        "INSERT INTO proxy_blocks (domain, proxy, failed_at, blocked_until)"
        " VALUES ('bazaar-test.com', :proxy, now(), now() + interval '1.5 seconds')",
        proxy=proxies.names[0],
    )
    report = site.visit(site.url("/c/bikes"), PROXIES_MAX_WAIT=10, **proxies.settings(0))
    assert report[0]["status"] == 200
    assert set(used(report, "/")) == {0}


def test_residential_proxies_rotate_and_are_never_blocked(site: Site) -> None:
    site.source(proxy_strategy="residential")
    proxies = Proxies(site)
    site.bazaar.fault("reset", "^/c/", proxy=0)
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 9)]
    report = site.visit(*pages, **proxies.settings(0, 1, kind="residential"))
    assert all(visit["status"] == 200 for visit in report.visits)
    assert used(report).count(0) > 1
    assert site.database.rows("SELECT * FROM proxy_blocks") == []
    assert_no_secret(site, report)


def test_tunnels_go_through_the_pool_as_well(site: Site, proxies: Proxies) -> None:
    """The marketplace speaks no TLS: enough to see that the proxy was asked, and nobody else."""
    url = site.url("/c/bikes").replace("http://", "https://")
    report = site.visit(url, ROBOTSTXT_OBEY=False, RETRY_TIMES=0, DOWNLOAD_TIMEOUT=1, **proxies.settings(0))
    assert [(entry.method, entry.proxy) for entry in report.log] == [("CONNECT", 0)]
    assert report.log[0].header("proxy-authorization")
    assert_no_secret(site, report)


def test_none_means_direct(site: Site) -> None:
    site.source(proxy_strategy="none")
    report = site.visit(site.url("/c/bikes"), **Proxies(site).settings(0, 1))
    assert used(report, "/") == [None, None]


def test_it_can_be_switched_off(site: Site, proxies: Proxies) -> None:
    report = site.visit(site.url("/c/bikes"), PROXIES_ENABLED=False, **proxies.settings(0))
    assert used(report, "/") == [None, None]
