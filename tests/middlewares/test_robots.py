"""robots.txt: each way it can fail, and whether the site may then be crawled."""

from __future__ import annotations

import base64
import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from subprocess import Popen
from typing import Any, NamedTuple

import pytest

from pricewatch.bazaar.client import Bazaar
from pricewatch.store.engine.database import connect
from tests.databases import Database, Server
from tests.fetching.conftest import Report, Site

RULES = "User-agent: *\nDisallow: /private/\n"
DAY = 24 * 60 * 60
ALLOWED = None


class Case(NamedTuple):
    """The response for robots.txt, and why /c/bikes and /private/ are refused (None: they are allowed)."""

    fault: dict[str, Any]
    page: str | None
    private: str | None
    fetched: int = 1


def body(content: str | bytes) -> dict[str, Any]:
    """Return a fault that responds with these bytes."""
    data = content.encode() if isinstance(content, str) else content
    return {"action": "respond", "body_base64": base64.b64encode(data).decode()}


FORBIDDEN = "forbidden by robots.txt"


def unavailable(reason: str) -> str:
    return f"robots.txt is unavailable ({reason})"


CASES = {
    "404": Case({"action": "status", "status": 404}, ALLOWED, ALLOWED),
    "410": Case({"action": "status", "status": 410}, ALLOWED, ALLOWED),
    "401": Case({"action": "status", "status": 401}, unavailable("status 401"), unavailable("status 401")),
    "403": Case({"action": "status", "status": 403}, unavailable("status 403"), unavailable("status 403")),
    "429": Case({"action": "status", "status": 429}, unavailable("status 429"), unavailable("status 429"), 3),
    "500": Case({"action": "status", "status": 500}, unavailable("status 500"), unavailable("status 500"), 3),
    "500-twice": Case({"action": "status", "status": 500, "times": 2}, ALLOWED, FORBIDDEN, 3),
    "time-out": Case(
        {"action": "hang"}, unavailable("DownloadTimeoutError"), unavailable("DownloadTimeoutError"), 3
    ),
    "reset": Case(
        {"action": "reset"}, unavailable("DownloadFailedError"), unavailable("DownloadFailedError"), 3
    ),
    "redirect": Case({"action": "redirect", "to": "/robots.txt?moved", "times": 1}, ALLOWED, FORBIDDEN, 2),
    "redirect-to-another-site": Case(
        {"action": "redirect", "to": "http://elsewhere.com/robots.txt"},
        unavailable("offsite_redirect"),
        unavailable("offsite_redirect"),
    ),
    "redirect-loop": Case(
        {"action": "redirect_loop"}, unavailable("too_many_redirects"), unavailable("too_many_redirects"), 6
    ),
    "500-KB": Case(body("# padding\n" * 60_000 + RULES), ALLOWED, FORBIDDEN),
    "3-MB": Case(
        {"action": "big_body", "bytes": 3_000_000}, unavailable("too_large"), unavailable("too_large")
    ),
    "BOM": Case(body("\ufeff" + RULES), ALLOWED, FORBIDDEN),
    "CR-only": Case(body(RULES.replace("\n", "\r")), ALLOWED, FORBIDDEN),
    "UTF-16": Case(body(RULES.encode("utf-16")), unavailable("UTF-16"), unavailable("UTF-16")),
    "NUL-bytes": Case(body(RULES.encode() + b"\0\0"), unavailable("NUL bytes"), unavailable("NUL bytes")),
    "invalid-UTF-8": Case(body(b"# Gr\xfc\xdfe\n" + RULES.encode()), ALLOWED, FORBIDDEN),
    "invalid-UTF-8-in-a-path": Case(body(b"User-agent: *\nDisallow: /priv\xe4te\n"), ALLOWED, FORBIDDEN),
    "HTML": Case(
        body("<!doctype html><html><body>User-agent: *</body></html>"),
        unavailable("HTML"),
        unavailable("HTML"),
    ),
    "text-without-rules": Case(
        body("Nothing to see here."), unavailable("no line is a rule"), unavailable("no line is a rule")
    ),
    "empty": Case({"action": "empty"}, ALLOWED, ALLOWED),
    "comments-only": Case(body("# no rules\n# at all\n"), ALLOWED, ALLOWED),
    "truncated": Case(
        {"action": "truncate", "keep": 20},
        unavailable("ResponseDataLossError"),
        unavailable("ResponseDataLossError"),
        3,
    ),
    "packed-and-truncated": Case(
        body(gzip.compress(random.Random(1).randbytes(2000).hex().encode() + RULES.encode())[:1000])
        | {"headers": {"Content-Encoding": "gzip"}},
        unavailable("ResponseDataLossError"),
        unavailable("ResponseDataLossError"),
    ),
    "rules-before-any-agent": Case(
        body("Disallow: /private/\nUser-agent: other\nDisallow: /\n"), ALLOWED, FORBIDDEN
    ),
    "token-of-pricewatch": Case(
        body("User-agent: *\nDisallow:\n\nUser-agent: PriceWatch\nDisallow: /private/\n"), ALLOWED, FORBIDDEN
    ),
    "token-of-browsers": Case(body("User-agent: Mozilla\nDisallow: /\n\n" + RULES), ALLOWED, FORBIDDEN),
    "everything-forbidden": Case(body("User-agent: *\nDisallow: /\n"), FORBIDDEN, FORBIDDEN),
}


def host(name: str) -> str:
    return f"www.{name.lower()}-robots.com"


@dataclass
class CrawledCases:
    report: Report
    numbers: dict[str, int]
    site: Site


@pytest.fixture(scope="module")
def crawled(
    server: Server, migrated: str, site_server: Bazaar, fetch_process: Popen[str]
) -> Iterator[CrawledCases]:
    """Crawl all cases at once, each with its own host."""
    url = server.create(migrated)
    database = Database(url, connect(url))
    site = Site(site_server, database, fetch_process)
    site_server.reset()
    pages: list[str] = []
    numbers = {}
    for name, case in CASES.items():
        site.source(host(name).removeprefix("www."))
        site_server.fault(path=r"^/robots\.txt", host=f"^{host(name)}", **case.fault)
        numbers[name] = len(pages)
        pages += [site.url("/c/bikes", host(name)), site.url("/private/", host(name))]
    site_server.robots(RULES)
    report = site.fetch(*pages, DOWNLOAD_TIMEOUT=1)
    site_server.clear_faults()
    site_server.robots()
    yield CrawledCases(report, numbers, site)
    database.engine.dispose()
    server.drop(url)


@pytest.mark.parametrize("name", CASES)
def test_case(crawled: CrawledCases, name: str) -> None:
    case, number = CASES[name], crawled.numbers[name]
    for offset, path, why in ((0, "/c/bikes", case.page), (1, "/private/", case.private)):
        result = crawled.report[number + offset]
        requested = sum(
            entry.path == path and entry.host.startswith(host(name)) for entry in crawled.report.log
        )
        if why is None:
            assert (result["status"], requested) == (200, 1)
        else:
            assert (result["error"], result["reason"], result["message"]) == (
                "RobotsForbidden",
                "robots",
                why,
            )
            assert requested == 0
    robots = [
        entry
        for entry in crawled.report.log
        if entry.path.startswith("/robots.txt") and entry.host.startswith(host(name))
    ]
    assert len(robots) == case.fetched


def test_outcomes_are_counted(crawled: CrawledCases) -> None:
    outcomes = {
        "rules": sum(case.page is None and case.private == FORBIDDEN for case in CASES.values()) + 1,
        "no_rules": sum(case.private is None for case in CASES.values()),
        "unavailable": sum(case.page not in (None, FORBIDDEN) for case in CASES.values()),
    }
    for outcome, number in outcomes.items():
        assert crawled.report.stat(f"robots/{outcome}") == number
        assert number == crawled.site.database.value(
            "SELECT count(*) FROM robots_cache WHERE outcome = :outcome", outcome=outcome
        )
    assert crawled.report.stat("robots/fetched") == len(CASES)


def test_file_is_fetched_once_a_day(site: Site) -> None:
    site.source()
    page = site.url("/c/bikes")
    assert site.fetch(page)[0]["status"] == 200
    site.bazaar.robots("User-agent: *\nDisallow: /c/\n")
    later = site.fetch(page, later=DAY - 60)
    assert later[0]["status"] == 200
    assert (later.stat("robots/known"), later.stat("robots/fetched")) == (1, 0)
    last = site.fetch(page, later=DAY + 60)
    assert last[0]["message"] == FORBIDDEN
    assert [entry.path for entry in last.log] == ["/robots.txt", "/c/bikes", "/c/bikes", "/robots.txt"]


def test_file_from_the_future_is_fetched_again(site: Site) -> None:
    site.source()
    page = site.url("/c/bikes")
    assert site.fetch(page, later=400 * DAY)[0]["status"] == 200
    site.bazaar.robots("User-agent: *\nDisallow: /c/\n")
    assert site.fetch(page)[0]["message"] == FORBIDDEN
    # A claim from the future is ignored too.
    site.database.do(
        "UPDATE robots_cache SET expires_at = 'epoch', claimed_until = now() + interval '1 year'"
    )
    assert site.fetch(page)[0]["message"] == FORBIDDEN


def test_site_whose_robots_txt_redirects_to_a_refused_url_is_not_crawled(site: Site) -> None:
    for name, target in (("private", "http://10.0.0.1/"), ("file", "file:///"), ("broken", "http://[::1/")):
        site.source(f"{name}-robots.com")
        site.bazaar.fault("redirect", r"^/robots\.txt", host=f"^www.{name}-robots", to=target)
    pages = [site.url("/c/bikes", f"www.{name}-robots.com") for name in ("private", "file", "broken")]
    for _ in range(2):
        report = site.fetch(*pages)
        assert [result["reason"] for result in report.results] == ["robots"] * 3
    assert [entry.path for entry in report.log] == ["/robots.txt"] * 3


def test_site_is_crawled_again_after_it_recovers(site: Site) -> None:
    site.source()
    site.bazaar.robots(status=503)
    assert site.fetch(site.url("/c/bikes"))[0]["reason"] == "robots"
    site.bazaar.robots()
    soon = site.fetch(site.url("/c/bikes"), later=60)
    assert (soon[0]["reason"], soon.stat("robots/fetched")) == ("robots", 0)
    assert site.fetch(site.url("/c/bikes"), later=700)[0]["status"] == 200


def test_failures_that_the_site_did_not_cause_are_not_cached(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    assert site.fetch(site.url("/c/bikes"))[0]["reason"] == "no_proxy"
    site.database.do("UPDATE sources SET proxy_strategy = 'none'")
    assert site.fetch(site.url("/c/bikes"))[0]["status"] == 200


def test_middleware_can_be_disabled(site: Site) -> None:
    site.source()
    report = site.fetch(site.url("/private/"), ROBOTSTXT_OBEY=False)
    assert report[0]["status"] == 200
    assert [entry.path for entry in report.log] == ["/private/"]
