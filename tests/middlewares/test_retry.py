"""Retries: number, pauses, Retry-After, and that other requests are not delayed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.fetching.conftest import Site


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_temporary_statuses_are_retried(site: Site, status: int) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=status, times=2)
    report = site.fetch(site.url("/c/bikes"))
    assert report[0]["status"] == 200
    assert [entry.status for entry in report.log[1:]] == [status, status, 200]
    assert report.stat("retry/count") == 2


@pytest.mark.parametrize("action", ["reset", "hang", "truncate"])
def test_temporary_network_errors_are_retried(site: Site, action: str) -> None:
    site.source()
    site.bazaar.fault(action, "^/c/bikes", times=2)
    report = site.fetch(site.url("/c/bikes"), DOWNLOAD_TIMEOUT=1)
    assert report[0]["status"] == 200
    assert [entry.action for entry in report.log[1:]] == [action, action, None]


def test_requests_are_tried_three_times(site: Site) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=500)
    site.bazaar.fault("reset", "^/c/toys")
    report = site.fetch(site.url("/c/bikes"), site.url("/c/toys"), site.url("/c/nothing"))
    assert (report[0]["error"], report[0]["status"]) == ("HttpError", 500)
    assert report[1]["error"] == "DownloadFailedError"
    assert report[2]["status"] == 404
    requested = [entry.path for entry in report.log]
    assert [requested.count(path) for path in ("/c/bikes", "/c/toys", "/c/nothing")] == [3, 3, 1]
    assert report.stat("retry/max_reached") == 2


def test_pauses_grow(site: Site) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=500)
    report = site.fetch(site.url("/c/bikes"), RETRY_FIRST_DELAY=0.4, RETRY_LONGEST_DELAY=5, RETRY_JITTER=0)
    times = [entry.time for entry in report.log if entry.path == "/c/bikes"]
    first, second = (later - earlier for earlier, later in pairwise(times))
    assert first >= 0.4
    assert second >= 0.8


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_honoured(site: Site, as_date: bool) -> None:
    site.source()
    # Dates have no fractions of a second, so two seconds may be little more than one.
    site.bazaar.fault("rate_limit", "^/c/bikes", retry_after=2, as_date=as_date, times=1)
    report = site.fetch(site.url("/c/bikes"))
    assert report[0]["status"] == 200
    refused, answered = (entry.time for entry in report.log if entry.path == "/c/bikes")
    assert answered - refused >= (1.0 if as_date else 2.0)
    assert report.stat("retry/asked_to_wait") == 1


def test_request_is_not_retried_if_retry_after_is_too_long(site: Site) -> None:
    site.source()
    site.bazaar.fault("rate_limit", "^/c/bikes", retry_after=3600)
    report = site.fetch(site.url("/c/bikes"))
    assert (report[0]["error"], report[0]["message"]) == ("BlockedPage", "status 429")
    assert sum(entry.path == "/c/bikes" for entry in report.log) == 1


@pytest.mark.parametrize("rate", [1000, 20])
def test_long_retry_after_stops_all_requests_to_the_domain(site: Site, rate: int) -> None:
    site.source(requests_per_second=rate, max_concurrent=1)
    site.source("other-test.com")
    site.bazaar.fault("rate_limit", "^/c/bikes", host="bazaar-test", retry_after=3600)
    pages = [site.url("/c/bikes"), site.url("/c/toys"), site.url("/c/phones", "shop.bazaar-test.com")]
    pages.append(site.url("/c/bikes", "www.other-test.com"))
    # One after the other, with and without a rate limit.
    report = site.fetch(*pages, CONCURRENT_REQUESTS=1, ROBOTSTXT_OBEY=False, RETRY_AFTER_MAX=1)
    assert report[0]["reason"] == "blocked_page"
    assert report[3]["status"] == 200
    requested = [entry.status for entry in report.log if "bazaar-test" in entry.host]
    # A missed reservation may let another page go first; none may follow.
    assert requested.index(429) == len(requested) - 1


def test_paused_requests_do_not_delay_others(site: Site) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=503, times=2)
    others = [site.url(f"/c/toys?page={n}") for n in range(1, 31)]
    report = site.fetch(
        {"url": site.url("/c/bikes"), "priority": 10},
        *others,
        CONCURRENT_REQUESTS=1,
        CONCURRENT_REQUESTS_PER_DOMAIN=1,
        RETRY_FIRST_DELAY=1,
        RETRY_LONGEST_DELAY=1,
    )
    assert all(result["status"] == 200 for result in report.results)
    paths = [entry.path.partition("?")[0] for entry in report.log if entry.path != "/robots.txt"]
    # Other pages were fetched between its first and second attempt.
    assert paths[0] == "/c/bikes"
    assert paths.index("/c/bikes", 1) > 5
    assert paths.count("/c/toys") == 30


def test_middleware_can_be_disabled(site: Site) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=500, times=1)
    assert site.fetch(site.url("/c/bikes"), RETRY_ENABLED=False)[0]["status"] == 500
