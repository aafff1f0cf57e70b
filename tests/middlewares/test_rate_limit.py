"""The global rate limit, measured in the request log of the marketplace."""

from __future__ import annotations

import json
import os
import signal
from itertools import pairwise
from pathlib import Path

import pytest
import redis

from tests.fetching.conftest import Site, busiest, keeps_rate
from tests.fetching.shared_budgets import BUDGETS, share_budgets
from tests.waiting import until


@pytest.mark.proof
@pytest.mark.parametrize("backend", ["postgres", "redis"])
def test_eight_processes_share_one_budget(
    site: Site, backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """It is never exceeded, although one process is killed; `tests.bench` measures how much of it is used."""
    redis_url = request.getfixturevalue("redis_url") if backend == "redis" else ""
    shared = share_budgets(site, tmp_path, REDIS_URL=redis_url)
    for domain, budget in BUDGETS.items():
        times = shared.times(domain)
        assert len(times) > budget
        assert busiest(times, 10.0) <= 10 * budget
    hosts = {entry.host.partition(":")[0] for entry in shared.log if entry.path.startswith("/c/")}
    assert hosts == {"www.bazaar-test.com", "cdn.bazaar-test.com"}
    # robots.txt was fetched once per host by all of them together.
    assert sum(entry.path == "/robots.txt" for entry in shared.log) == 3


@pytest.mark.proof
@pytest.mark.parametrize("backend", ["postgres", "redis"])
def test_requests_arrive_at_least_nine_tenths_of_the_interval_apart(
    site: Site, backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """At the default rate, with three processes that always have a request waiting."""
    redis_url = request.getfixturevalue("redis_url") if backend == "redis" else ""
    site.source(requests_per_second=None, max_concurrent=None)
    crawls, _ = site.parallel_crawls(
        3, site.url("/c/bikes"), until=8, directory=tmp_path, REDIS_URL=redis_url
    )
    with crawls:
        crawls.communicate("start\n", timeout=60)
    times = sorted(entry.time for entry in site.bazaar.log())
    assert len(times) >= 5
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.9 * 2.0


def test_every_request_counts_against_the_budget(site: Site) -> None:
    """robots.txt, HEAD, retries and redirects: eleven requests at five a second."""
    site.source("bazaar-test.com", requests_per_second=5, max_concurrent=4)
    site.bazaar.fault("status", "^/c/toys", status=500, times=2)
    site.bazaar.fault("redirect", "^/old", to="/c/bikes")
    report = site.fetch(
        site.url("/c/toys"),
        site.url("/old"),
        {"url": site.url("/c/phones"), "method": "HEAD"},
        *(site.url(f"/c/bikes?page={n}") for n in range(1, 5)),
    )
    assert [result.get("status") for result in report.results] == [200] * 7
    requested = [(entry.method, entry.path.partition("?")[0]) for entry in report.log]
    assert len(requested) == 11
    assert requested[0] == ("GET", "/robots.txt")
    assert requested.count(("GET", "/c/toys")) == 3
    assert requested.count(("HEAD", "/c/phones")) == requested.count(("GET", "/old")) == 1
    assert keeps_rate([entry.time for entry in report.log], 0.2)


@pytest.mark.parametrize("backend", ["postgres", "redis"])
def test_a_shop_at_an_address_has_a_budget_per_port(
    site: Site, backend: str, request: pytest.FixtureRequest
) -> None:
    """The sample marketplace at another port of the same address has no limit; the shop has one."""
    site.database.do("UPDATE sources SET base_url = 'http://127.0.0.1:1' WHERE id = 'bazaar'")
    sample = site.database.row("SELECT domain, requests_per_second FROM sources WHERE id = 'bazaar'")
    assert tuple(sample) == ("127.0.0.1", 1000)
    redis_url = request.getfixturevalue("redis_url") if backend == "redis" else ""
    pages = [f"http://127.0.0.1:{site.port}/c/bikes?page={n}" for n in range(1, 9)]
    report = site.fetch(
        *pages,
        REQUESTS_PER_SECOND=5,
        MIN_DELAY_MS=0,
        ALLOWED_PRIVATE_HOSTS=[f"127.0.0.1:{site.port}"],
        REDIS_URL=redis_url,
    )
    assert [result.get("status") for result in report.results] == [200] * 8
    assert len(report.log) == 9
    assert keeps_rate([entry.time for entry in report.log], 0.2)
    if backend == "redis":
        with redis.Redis.from_url(redis_url) as client:
            assert list(client.scan_iter(f"pricewatch:rate_limit:{{127.0.0.1:{site.port}}}:state"))
            assert not list(client.scan_iter("pricewatch:rate_limit:{127.0.0.1}:*"))
    else:
        assert site.database.rows("SELECT domain FROM rate_limits") == [(f"127.0.0.1:{site.port}",)]


def test_crawl_delay_lengthens_the_interval(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=20)
    site.bazaar.robots("User-agent: *\nCrawl-delay: 0.3\nDisallow: /private/\n")
    report = site.fetch(*(site.url(f"/c/bikes?page={n}") for n in range(1, 4)))
    # The minimum is a second.
    assert keeps_rate([entry.time for entry in report.log], 1.0)
    assert report.stat("robots/crawl_delay") == 1


def test_slow_domains_do_not_block_other_domains(site: Site) -> None:
    """More slow domains than CONCURRENT_REQUESTS: waiting requests do not count."""
    for number in range(3):
        site.source(f"slow{number}-test.com", requests_per_second=1)
    site.source("quick-test.com", requests_per_second=1000)
    slow = [
        site.url(f"/c/bikes?page={n}", f"slow{number}-test.com") for n in range(1, 4) for number in range(3)
    ]
    quick = [site.url(f"/c/toys?page={n}", "quick-test.com") for n in range(1, 41)]
    report = site.fetch(*slow, *quick, CONCURRENT_REQUESTS=2)
    assert all(result["status"] == 200 for result in report.results)
    order = [entry.host.partition(":")[0] for entry in report.log if entry.path != "/robots.txt"]
    before = order[: len(order) - order[::-1].index("quick-test.com")]
    assert sum(host.startswith("slow") for host in before) <= 6


def test_no_more_requests_than_slots_are_under_way(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=50, max_concurrent=1)
    site.bazaar.fault("hang", "^/c/", seconds=0.3)
    report = site.fetch(*(site.url(f"/c/bikes?page={n}") for n in range(1, 6)))
    times = [entry.time for entry in report.log if entry.path.startswith("/c/")]
    # The log has the time of the request; the response was sent 0.3 seconds later.
    assert len(times) == 5
    assert busiest(times, 0.29) == 1
    assert report.stat("rate_limit/full") > 0


def test_a_slow_request_keeps_its_slot_beyond_the_lease(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=50, max_concurrent=1)
    site.bazaar.fault("hang", "^/c/", seconds=3)
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 3)]
    report = site.fetch(*pages, RATE_LIMIT_LEASE_SECONDS=1.5)
    first, second = (entry.time for entry in report.log if entry.path.startswith("/c/"))
    assert second - first >= 3


def test_waiting_is_bounded(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=0.5)
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 5)]
    report = site.fetch(*pages, RATE_LIMIT_MAX_WAIT=3)
    failed = [result for result in report.results if result.get("error")]
    assert len(failed) >= 2
    assert {result["reason"] for result in failed} == {"no_turn"}
    assert len(report.log) <= 3


def test_waiting_ends_when_the_crawl_closes(site: Site, tmp_path: Path) -> None:
    site.source(requests_per_second=0.01)
    crawls, (crawl,) = site.parallel_crawls(1, site.url("/help"), until=1, directory=tmp_path)
    with crawls:
        assert crawls.stdin is not None
        crawls.stdin.write("start\n")
        crawls.stdin.flush()
        until(site.bazaar.log)
        # robots.txt has been fetched; the page would be sent in a minute and a half.
        os.kill(crawl, signal.SIGTERM)
        output, _ = crawls.communicate(timeout=60)
    assert [result["reason"] for result in json.loads(output)[0]["results"]] == ["crawl_ending"]


def test_nothing_is_sent_while_the_backend_is_unavailable(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=10)
    report = site.fetch(
        site.url("/c/bikes"), DATABASE_RETRY_SECONDS=0.5, REDIS_URL="redis://user:secret@127.0.0.1:9/0"
    )
    assert report[0]["reason"] == "no_turn"
    assert report.log == []
    assert "secret" not in report.output


def test_retry_after_holds_the_whole_domain(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=20, max_concurrent=1)
    site.bazaar.fault("rate_limit", "^/c/toys", retry_after=2, times=1)
    others = [site.url(f"/c/bikes?page={n}") for n in range(1, 4)]
    report = site.fetch({"url": site.url("/c/toys"), "priority": 1}, *others)
    assert all(result["status"] == 200 for result in report.results)
    refused = next(n for n, entry in enumerate(report.log) if entry.status == 429)
    later = [entry.time - report.log[refused].time for entry in report.log[refused + 1 :]]
    assert len(later) >= 1
    assert min(later) >= 2.0
    assert report.stat("rate_limit/held") == 1


def test_the_limiter_can_be_disabled(site: Site) -> None:
    report = site.fetch(site.url("/help"), site.url("/c/bikes"), RATE_LIMIT_ENABLED=False)
    assert [result["status"] for result in report.results] == [200, 200]
    assert report.stat("rate_limit/requests") == 0
