"""robots.txt: each way it can go wrong, and whether the site may then be visited."""

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
from tests.middlewares.conftest import Report, Site

RULES = "User-agent: *\nDisallow: /private/\n"
DAY = 24 * 60 * 60
ALLOWED = None


class Case(NamedTuple):
    """What robots.txt does, and why /c/bikes and /private/ are refused (None: they are not)."""

    fault: dict[str, Any]
    page: str | None
    private: str | None
    fetched: int = 1


def body(content: str | bytes) -> dict[str, Any]:
    """A rule that answers with these bytes."""
    data = content.encode() if isinstance(content, str) else content
    return {"action": "respond", "body_base64": base64.b64encode(data).decode()}


FORBIDDEN = "forbidden by robots.txt"


def cannot(reason: str) -> str:
    return f"robots.txt cannot be relied on ({reason})"


CASES = {
    "404": Case({"action": "status", "status": 404}, ALLOWED, ALLOWED),
    "410": Case({"action": "status", "status": 410}, ALLOWED, ALLOWED),
    "401": Case({"action": "status", "status": 401}, cannot("status 401"), cannot("status 401")),
    "403": Case({"action": "status", "status": 403}, cannot("status 403"), cannot("status 403")),
    "429": Case({"action": "status", "status": 429}, cannot("status 429"), cannot("status 429"), 3),
    "500": Case({"action": "status", "status": 500}, cannot("status 500"), cannot("status 500"), 3),
    "500-twice": Case({"action": "status", "status": 500, "times": 2}, ALLOWED, FORBIDDEN, 3),
    "time-out": Case({"action": "hang"}, cannot("DownloadTimeoutError"), cannot("DownloadTimeoutError"), 3),
    "reset": Case({"action": "reset"}, cannot("DownloadFailedError"), cannot("DownloadFailedError"), 3),
    "redirect": Case({"action": "redirect", "to": "/robots.txt?moved", "times": 1}, ALLOWED, FORBIDDEN, 2),
    "redirect-away": Case(
        {"action": "redirect", "to": "http://elsewhere.com/robots.txt"},
        cannot("offsite_redirect"),
        cannot("offsite_redirect"),
    ),
    "redirect-loop": Case(
        {"action": "redirect_loop"}, cannot("too_many_redirects"), cannot("too_many_redirects"), 6
    ),
    "500-KB": Case(body("# padding\n" * 60_000 + RULES), ALLOWED, FORBIDDEN),
    "3-MB": Case({"action": "big_body", "bytes": 3_000_000}, cannot("too_large"), cannot("too_large")),
    "BOM": Case(body("\ufeff" + RULES), ALLOWED, FORBIDDEN),
    "CR-only": Case(body(RULES.replace("\n", "\r")), ALLOWED, FORBIDDEN),
    "UTF-16": Case(body(RULES.encode("utf-16")), cannot("UTF-16"), cannot("UTF-16")),
    "NUL-bytes": Case(body(RULES.encode() + b"\0\0"), cannot("NUL bytes"), cannot("NUL bytes")),
    "invalid-UTF-8": Case(body(b"# Gr\xfc\xdfe\n" + RULES.encode()), ALLOWED, FORBIDDEN),
    "invalid-UTF-8-in-a-path": Case(body(b"User-agent: *\nDisallow: /priv\xe4te\n"), ALLOWED, FORBIDDEN),
    "HTML": Case(
        body("<!doctype html><html><body>User-agent: *</body></html>"), cannot("HTML"), cannot("HTML")
    ),
    "text-that-is-no-rules": Case(
        body("Nothing to see here."), cannot("no line is a rule"), cannot("no line is a rule")
    ),
    "empty": Case({"action": "empty"}, ALLOWED, ALLOWED),
    "comments-only": Case(body("# nobody\n# is unwelcome\n"), ALLOWED, ALLOWED),
    "truncated": Case(
        {"action": "truncate", "keep": 20},
        cannot("ResponseDataLossError"),
        cannot("ResponseDataLossError"),
        3,
    ),
    "packed-and-truncated": Case(
        body(gzip.compress(random.Random(1).randbytes(2000).hex().encode() + RULES.encode())[:1000])
        | {"headers": {"Content-Encoding": "gzip"}},
        cannot("ResponseDataLossError"),
        cannot("ResponseDataLossError"),
    ),
    "rules-before-any-agent": Case(
        body("Disallow: /private/\nUser-agent: other\nDisallow: /\n"), ALLOWED, FORBIDDEN
    ),
    "our-own-token": Case(
        body("User-agent: *\nDisallow:\n\nUser-agent: PriceWatch\nDisallow: /private/\n"), ALLOWED, FORBIDDEN
    ),
    "the-token-of-browsers": Case(body("User-agent: Mozilla\nDisallow: /\n\n" + RULES), ALLOWED, FORBIDDEN),
    "everything-forbidden": Case(body("User-agent: *\nDisallow: /\n"), FORBIDDEN, FORBIDDEN),
}


def host(name: str) -> str:
    return f"www.{name.lower()}-robots.com"


@dataclass
class Visited:
    report: Report
    numbers: dict[str, int]
    site: Site


@pytest.fixture(scope="module")
def visited(server: Server, migrated: str, running: Bazaar, visitor: Popen[str]) -> Iterator[Visited]:
    """All cases in one crawl: each is a host, and so a site, of its own."""
    url = server.create(migrated)
    database = Database(url, connect(url))
    site = Site(running, database, visitor)
    running.reset()
    visits: list[str] = []
    numbers = {}
    for name, case in CASES.items():
        site.source(host(name).removeprefix("www."))
        running.fault(path=r"^/robots\.txt", host=f"^{host(name)}", **case.fault)
        numbers[name] = len(visits)
        visits += [site.url("/c/bikes", host(name)), site.url("/private/", host(name))]
    running.robots(RULES)
    report = site.visit(*visits, DOWNLOAD_TIMEOUT=1)
    running.clear_faults()
    running.robots()
    yield Visited(report, numbers, site)
    database.engine.dispose()
    server.drop(url)


@pytest.mark.parametrize("name", CASES)
def test_the_table(visited: Visited, name: str) -> None:
    case, number = CASES[name], visited.numbers[name]
    for offset, path, why in ((0, "/c/bikes", case.page), (1, "/private/", case.private)):
        visit = visited.report[number + offset]
        asked = sum(entry.path == path and entry.host.startswith(host(name)) for entry in visited.report.log)
        if why is None:
            assert (visit["status"], asked) == (200, 1)
        else:
            assert (visit["error"], visit["reason"], visit["message"]) == ("RobotsForbidden", "robots", why)
            assert asked == 0
    robots = [
        entry
        for entry in visited.report.log
        if entry.path.startswith("/robots.txt") and entry.host.startswith(host(name))
    ]
    assert len(robots) == case.fetched


def test_each_outcome_is_counted(visited: Visited) -> None:
    outcomes = {
        "rules": sum(case.page is None and case.private == FORBIDDEN for case in CASES.values()) + 1,
        "no_rules": sum(case.private is None for case in CASES.values()),
        "unavailable": sum(case.page not in (None, FORBIDDEN) for case in CASES.values()),
    }
    for outcome, number in outcomes.items():
        assert visited.report.stat(f"robots/{outcome}") == number
        assert number == visited.site.database.value(
            "SELECT count(*) FROM robots_cache WHERE outcome = :outcome", outcome=outcome
        )
    assert visited.report.stat("robots/fetched") == len(CASES)


def test_a_file_is_fetched_once_a_day_and_then_read_again(site: Site) -> None:
    site.source()
    page = site.url("/c/bikes")
    assert site.visit(page)[0]["status"] == 200
    site.bazaar.robots("User-agent: *\nDisallow: /c/\n")
    later = site.visit(page, later=DAY - 60)
    assert later[0]["status"] == 200
    assert (later.stat("robots/known"), later.stat("robots/fetched")) == (1, 0)
    last = site.visit(page, later=DAY + 60)
    assert last[0]["message"] == FORBIDDEN
    assert [entry.path for entry in last.log] == ["/robots.txt", "/c/bikes", "/c/bikes", "/robots.txt"]


def test_a_file_of_a_time_that_never_came_is_read_again(site: Site) -> None:
    site.source()
    page = site.url("/c/bikes")
    assert site.visit(page, later=400 * DAY)[0]["status"] == 200
    site.bazaar.robots("User-agent: *\nDisallow: /c/\n")
    assert site.visit(page)[0]["message"] == FORBIDDEN
    # Nor is a claim of that time waited for.
    site.database.do(
        "UPDATE robots_cache SET expires_at = 'epoch', claimed_until = now() + interval '1 year'"
    )
    assert site.visit(page)[0]["message"] == FORBIDDEN


def test_a_site_whose_file_leads_nowhere_is_left_alone_for_a_while(site: Site) -> None:
    for name, place in (("private", "http://10.0.0.1/"), ("file", "file:///"), ("broken", "http://[::1/")):
        site.source(f"{name}-robots.com")
        site.bazaar.fault("redirect", r"^/robots\.txt", host=f"^www.{name}-robots", to=place)
    pages = [site.url("/c/bikes", f"www.{name}-robots.com") for name in ("private", "file", "broken")]
    for _ in range(2):
        report = site.visit(*pages)
        assert [visit["reason"] for visit in report.visits] == ["robots"] * 3
    assert [entry.path for entry in report.log] == ["/robots.txt"] * 3


def test_a_site_that_recovers_is_visited_again(site: Site) -> None:
    site.source()
    site.bazaar.robots(status=503)
    assert site.visit(site.url("/c/bikes"))[0]["reason"] == "robots"
    site.bazaar.robots()
    soon = site.visit(site.url("/c/bikes"), later=60)
    assert (soon[0]["reason"], soon.stat("robots/fetched")) == ("robots", 0)
    assert site.visit(site.url("/c/bikes"), later=700)[0]["status"] == 200


def test_what_is_not_the_site_s_fault_is_not_held_against_it(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    assert site.visit(site.url("/c/bikes"))[0]["reason"] == "no_proxy"
    site.database.do("UPDATE sources SET proxy_strategy = 'none'")
    assert site.visit(site.url("/c/bikes"))[0]["status"] == 200


def test_it_can_be_switched_off(site: Site) -> None:
    site.source()
    report = site.visit(site.url("/private/"), ROBOTSTXT_OBEY=False)
    assert report[0]["status"] == 200
    assert [entry.path for entry in report.log] == ["/private/"]
