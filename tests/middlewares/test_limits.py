"""The global rate limit, read from the marketplace's own log."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
import redis

from tests.middlewares.conftest import Site, busiest
from tests.middlewares.sharing import BUDGETS, share_budgets
from tests.waiting import until


@pytest.mark.proof
@pytest.mark.parametrize("book", ["postgres", "redis"])
def test_eight_processes_share_one_budget(
    site: Site, book: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """It is never exceeded, though one process dies; how much of it is used is measured by `tests.bench`."""
    redis_url = request.getfixturevalue("redis_url") if book == "redis" else ""
    shared = share_budgets(site, tmp_path, REDIS_URL=redis_url)
    for domain, budget in BUDGETS.items():
        times = shared.times(domain)
        assert len(times) > budget
        assert busiest(times, 1.0) <= budget
        assert busiest(times, 2.0) <= 2 * budget
    hosts = {entry.host.partition(":")[0] for entry in shared.log if entry.path.startswith("/c/")}
    assert hosts == {"www.bazaar-test.com", "cdn.bazaar-test.com"}
    # robots.txt was fetched once per host by all of them together.
    assert sum(entry.path == "/robots.txt" for entry in shared.log) == 3


def test_whatever_goes_out_waits_for_its_turn(site: Site) -> None:
    """robots.txt, HEAD, retries and redirects: at five a second no second sees more than five."""
    site.source("bazaar-test.com", requests_per_second=5, max_concurrent=4)
    site.bazaar.fault("status", "^/c/toys", status=500, times=2)
    site.bazaar.fault("redirect", "^/old", to="/c/bikes")
    report = site.visit(
        site.url("/c/toys"),
        site.url("/old"),
        {"url": site.url("/c/phones"), "method": "HEAD"},
        *(site.url(f"/c/bikes?page={n}") for n in range(1, 5)),
    )
    assert [visit.get("status") for visit in report.visits] == [200] * 7
    asked = [(entry.method, entry.path.partition("?")[0]) for entry in report.log]
    assert len(asked) == 11
    assert asked[0] == ("GET", "/robots.txt")
    assert asked.count(("GET", "/c/toys")) == 3
    assert asked.count(("HEAD", "/c/phones")) == asked.count(("GET", "/old")) == 1
    assert busiest([entry.time for entry in report.log], 1.0) <= 5


@pytest.mark.parametrize("book", ["postgres", "redis"])
def test_a_shop_on_this_machine_has_a_budget_of_its_own(
    site: Site, book: str, request: pytest.FixtureRequest
) -> None:
    """The sample marketplace, at another port of the same address, need not be spared; the shop is."""
    site.database.do("UPDATE sources SET base_url = 'http://127.0.0.1:1' WHERE id = 'bazaar'")
    lifted = site.database.row("SELECT domain, requests_per_second FROM sources WHERE id = 'bazaar'")
    assert tuple(lifted) == ("127.0.0.1", 1000)
    redis_url = request.getfixturevalue("redis_url") if book == "redis" else ""
    pages = [f"http://127.0.0.1:{site.port}/c/bikes?page={n}" for n in range(1, 9)]
    report = site.visit(
        *pages,
        REQUESTS_PER_SECOND=5,
        MIN_DELAY_MS=0,
        ALLOWED_PRIVATE_HOSTS=[f"127.0.0.1:{site.port}"],
        REDIS_URL=redis_url,
    )
    assert [visit.get("status") for visit in report.visits] == [200] * 8
    assert len(report.log) == 9
    assert busiest([entry.time for entry in report.log], 1.0) <= 5
    if book == "redis":
        with redis.Redis.from_url(redis_url) as client:
            assert list(client.scan_iter(f"pricewatch:turns:{{127.0.0.1:{site.port}}}:state"))
            assert not list(client.scan_iter("pricewatch:turns:{127.0.0.1}:*"))
    else:
        assert site.database.rows("SELECT domain FROM rate_limits") == [(f"127.0.0.1:{site.port}",)]


def test_crawl_delay_joins_in(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=20)
    site.bazaar.robots("User-agent: *\nCrawl-delay: 0.3\nDisallow: /private/\n")
    report = site.visit(*(site.url(f"/c/bikes?page={n}") for n in range(1, 4)))
    # At least a second, whatever the file says.
    assert busiest([entry.time for entry in report.log], 1.0) == 1
    assert report.stat("robots/crawl_delay") == 1


def test_slow_domains_hold_nobody_up(site: Site) -> None:
    """More of them than there are places: while they wait, they take none."""
    for number in range(3):
        site.source(f"slow{number}-test.com", requests_per_second=1)
    site.source("quick-test.com", requests_per_second=1000)
    slow = [
        site.url(f"/c/bikes?page={n}", f"slow{number}-test.com") for n in range(1, 4) for number in range(3)
    ]
    quick = [site.url(f"/c/toys?page={n}", "quick-test.com") for n in range(1, 41)]
    report = site.visit(*slow, *quick, CONCURRENT_REQUESTS=2)
    assert all(visit["status"] == 200 for visit in report.visits)
    order = [entry.host.partition(":")[0] for entry in report.log if entry.path != "/robots.txt"]
    before = order[: len(order) - order[::-1].index("quick-test.com")]
    assert sum(host.startswith("slow") for host in before) <= 6


def test_one_at_a_time_means_one(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=50, max_concurrent=1)
    site.bazaar.fault("hang", "^/c/", seconds=0.3)
    report = site.visit(*(site.url(f"/c/bikes?page={n}") for n in range(1, 6)))
    times = [entry.time for entry in report.log if entry.path.startswith("/c/")]
    # The log has when a request came; the answer left 0.3 seconds later.
    assert len(times) == 5
    assert busiest(times, 0.29) == 1
    assert report.stat("limits/full") > 0


def test_waiting_is_bounded(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=0.5)
    pages = [site.url(f"/c/bikes?page={n}") for n in range(1, 5)]
    report = site.visit(*pages, RATE_LIMIT_MAX_WAIT=3)
    failed = [visit for visit in report.visits if visit.get("error")]
    assert len(failed) >= 2
    assert {visit["reason"] for visit in failed} == {"no_turn"}
    assert len(report.log) <= 3


def test_waiting_ends_with_the_crawl(site: Site, tmp_path: Path) -> None:
    site.source(requests_per_second=0.01)
    crowd, (crawl,) = site.crowd(1, site.url("/help"), until=1, directory=tmp_path)
    with crowd:
        assert crowd.stdin is not None
        crowd.stdin.write("go\n")
        crowd.stdin.flush()
        until(site.bazaar.log)
        # robots.txt has been fetched; the page would have its turn in a minute and a half.
        os.kill(crawl, signal.SIGTERM)
        told, _ = crowd.communicate(timeout=60)
    assert [visit["reason"] for visit in json.loads(told)[0]["visits"]] == ["crawl_ending"]


def test_a_request_whose_turn_is_over_is_not_sent(site: Site) -> None:
    """Nor is it by mistake told to the site when it had to be sent."""
    site.source()
    late = {"url": site.url("/c/bikes"), "meta": {"send_before": 0.001}}
    in_time = {"url": site.url("/c/toys"), "meta": {"send_before": 1e12}}
    report = site.visit(late, in_time, RATE_LIMIT_ENABLED=False)
    assert (report[0]["error"], report[1]["status"]) == ("TurnMissed", 200)
    assert [entry.path for entry in report.log] == ["/robots.txt", "/c/toys"]
    assert report.log[1].header("x-pricewatch-send-before") is None


def test_without_the_book_nothing_goes_out(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=10)
    report = site.visit(
        site.url("/c/bikes"), DATABASE_RETRY_SECONDS=0.5, REDIS_URL="redis://user:secret@127.0.0.1:9/0"
    )
    assert report[0]["reason"] == "no_turn"
    assert report.log == []
    assert "secret" not in report.output


def test_retry_after_holds_the_whole_domain(site: Site) -> None:
    site.source("bazaar-test.com", requests_per_second=20, max_concurrent=1)
    site.bazaar.fault("rate_limit", "^/c/toys", retry_after=2, times=1)
    others = [site.url(f"/c/bikes?page={n}") for n in range(1, 4)]
    report = site.visit({"url": site.url("/c/toys"), "priority": 1}, *others)
    assert all(visit["status"] == 200 for visit in report.visits)
    refused = next(n for n, entry in enumerate(report.log) if entry.status == 429)
    later = [entry.time - report.log[refused].time for entry in report.log[refused + 1 :]]
    assert len(later) >= 1
    assert min(later) >= 2.0
    assert report.stat("limits/held") == 1


def test_the_limit_can_be_switched_off(site: Site) -> None:
    report = site.visit(site.url("/help"), site.url("/c/bikes"), RATE_LIMIT_ENABLED=False)
    assert [visit["status"] for visit in report.visits] == [200, 200]
    assert report.stat("limits/turns") == 0
