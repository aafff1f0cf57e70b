"""Pages that need JavaScript, in a real Chromium: what it may load, where it may go, how it is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]
import pytest

from tests.middlewares.conftest import Site, Visit, busiest
from tests.middlewares.test_guard import Trap

pytestmark = pytest.mark.slow

HEAVY = """<!doctype html><title>Heavy</title><link rel="icon" href="/static/icon.ico">
<style>@font-face {{ font-family: x; src: url(/static/font.woff2) }} p {{ font-family: x }}</style>
<p>text</p><img src="/static/photo.png"><video src="/static/film.mp4" autoplay></video>
<script src="http://www.google-analytics.com:{port}/ga.js"></script>"""
PRYING = """<!doctype html><title>Prying</title><p id=x>asked</p><iframe src="http://127.0.0.1:{trap}/frame"></iframe>
<script src="http://127.0.0.1:{trap}/script.js"></script><script>
fetch("http://inside.bazaar-test.com:{trap}/", {{mode: "no-cors"}}).catch(() => {{}});
new WebSocket("ws://127.0.0.1:{trap}/");
</script>"""


def in_browser(url: str) -> Visit:
    return {"url": url, "meta": {"playwright": True}}


def rendered(site: Site, number: int = 1) -> list[str]:
    """Listings whose pages are built by JavaScript."""
    return [item.url for item in site.bazaar.truth() if item.markup == "js" and item.state == "on_sale"][
        :number
    ]


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


@pytest.mark.browser
def test_a_page_is_read_as_its_scripts_build_it_and_nothing_needless_is_loaded(site: Site) -> None:
    site.source()
    (path,) = rendered(site)
    site.bazaar.fault("respond", "^/heavy", body=HEAVY.format(port=site.port))
    site.url("/", "www.google-analytics.com")
    report = site.visit(site.url(path), in_browser(site.url(path)), in_browser(site.url("/heavy")))
    plain, built, heavy = report.visits
    assert "buy-box" not in plain["body"]
    assert "buy-box" in built["body"]
    assert heavy["status"] == 200
    asked = [entry.path for entry in report.log]
    assert [asked.count(each) for each in ("/static/app.js", "/heavy")] == [1, 1]
    assert not [each for each in asked if each.endswith((".png", ".ico", ".woff2", ".mp4", "ga.js"))]
    # The browser says of itself what it is, but for the word that nobody sits in front of it.
    api = next(entry for entry in report.log if entry.path.startswith("/api/"))
    assert "Headless" not in (api.user_agent or "")
    assert "Chrome/" in (api.user_agent or "")
    assert report.stat("browser/pages") == 2
    assert report.stat("browser/requests_blocked") >= 4


@pytest.mark.browser
def test_the_budget_holds_for_what_a_page_loads(site: Site) -> None:
    site.source(requests_per_second=2, max_concurrent=1)
    pages = [in_browser(site.url(path)) for path in rendered(site, 2)]
    report = site.visit(*pages)
    assert all("buy-box" in visit["body"] for visit in report.visits)
    # robots.txt, and for each page the page, its script and its data.
    assert len(report.log) == 7
    assert busiest([entry.time for entry in report.log], 1.0) <= 2


@pytest.mark.browser
def test_a_browser_gets_into_no_private_network_either(site: Site, trap: Trap) -> None:
    site.source()
    for number, target in enumerate(
        ("http://127.0.0.1:{trap}/", "http://inside.bazaar-test.com:{trap}/", "http://10.0.0.1/", "/prying")
    ):
        site.bazaar.fault("redirect", f"^/go{number}", to=target.format(trap=trap.port))
    site.bazaar.fault("respond", "^/prying", body=PRYING.format(trap=trap.port))
    report = site.visit(
        *(in_browser(site.url(f"/go{number}")) for number in range(4)),
        HOSTS={"www.bazaar-test.com": "127.0.0.1", "inside.bazaar-test.com": "127.0.0.1"},
        RETRY_TIMES=0,
    )
    assert [visit.get("reason") for visit in report.visits] == ["refused_address"] * 3 + [None]
    assert "asked" in report[3]["body"]
    assert report.stat("guard/refused_address") >= 6
    assert trap.visitors == 0


@pytest.mark.browser
def test_redirects_walls_errors_and_sizes_end_as_for_any_other_page(site: Site) -> None:
    site.source()
    site.bazaar.fault("redirect", "^/away", to=site.url("/help", "elsewhere-test.com"))
    site.bazaar.fault("redirect", "^/moved", to="/help")
    site.bazaar.fault("captcha", "^/captcha")
    site.bazaar.fault("big_body", "^/big", bytes=3_000_000)
    site.bazaar.fault("reset", "^/reset")
    paths = ("/away", "/moved", "/captcha", "/big", "/reset", "/c/nothing", "/private/")
    report = site.visit(
        *(in_browser(site.url(path)) for path in paths), DOWNLOAD_MAXSIZE=1_000_000, RETRY_TIMES=0
    )
    away, moved, captcha, big, reset, missing, private = report.visits
    assert away["reason"] == "offsite_redirect"
    assert moved["final_url"] == site.url("/help")
    assert captcha["reason"] == "blocked_page"
    assert big["reason"] == "too_large"
    assert reset["error"] in ("DownloadFailedError", "DownloadConnectionRefusedError")
    assert missing["status"] == 404
    assert private["reason"] == "robots"
    assert "/private/" not in [entry.path for entry in report.log]


@pytest.mark.browser
def test_a_page_that_loads_too_much_in_many_parts_is_too_large_and_the_next_is_not(site: Site) -> None:
    site.source()
    site.bazaar.fault("big_body", "^/part", bytes=90_000)
    greedy = "<script>(async () => { for (let n = 0; n < 1000; n++)"
    greedy += " await (await fetch(`/part${n}`)).text() })()</script>"
    site.bazaar.fault("respond", "^/greedy", body=f"<!doctype html><title>Greedy</title>{greedy}")
    pages = [in_browser(site.url("/greedy")), in_browser(site.url("/help"))]
    report = site.visit(*pages, DOWNLOAD_MAXSIZE=100_000, BROWSER_MAX_PAGES=1, RETRY_TIMES=0)
    assert report[0]["reason"] == "too_large"
    assert report.stat("size/too_large") == 1
    assert len([entry for entry in report.log if entry.path.startswith("/part")]) < 1000
    assert report[1]["status"] == 200


@pytest.mark.browser
def test_a_page_that_takes_too_long_is_closed(site: Site) -> None:
    site.source()
    site.bazaar.fault("hang", "^/hang")
    pages = [in_browser(site.url("/hang")), in_browser(site.url("/help"))]
    report = site.visit(*pages, BROWSER_PAGE_SECONDS=4, BROWSER_MAX_PAGES=1, RETRY_TIMES=0)
    assert report[0]["error"] == "DownloadTimeoutError"
    # Its place is free again.
    assert report[1]["status"] == 200
    assert report.stat("browser/timed_out") == 1


@pytest.mark.browser
def test_it_is_restarted_before_it_wears_out(site: Site) -> None:
    site.source()
    report = site.visit(
        *(in_browser(site.url(f"/help?{number}")) for number in range(5)),
        BROWSER_RESTART_PAGES=2,
        BROWSER_MAX_PAGES=2,
    )
    assert [visit["status"] for visit in report.visits] == [200] * 5
    assert report.stat("browser/restarted") == 2
    assert report.stats["playwright/page_count/max_concurrent"] <= 2


@pytest.mark.browser
def test_a_crash_costs_a_retry(site: Site) -> None:
    site.source()
    site.bazaar.fault("hang", "^/help", seconds=20, times=1)
    killed: list[int] = []

    def crash() -> None:
        while not any(entry.path == "/help" for entry in site.bazaar.log()):
            time.sleep(0.05)
        for process in psutil.Process(site.visitor.pid).children(recursive=True):
            # The browsers of earlier crawls may still be ending.
            with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                if "chrom" in process.name() and "--type=" not in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(process.pid)

    crasher = threading.Thread(target=crash)
    crasher.start()
    report = site.visit(in_browser(site.url("/help")), in_browser(site.url("/c/bikes")))
    crasher.join()
    assert killed
    assert [visit["status"] for visit in report.visits] == [200, 200]
    assert report.stat("browser/ended") >= 2


@pytest.mark.browser
def test_it_goes_through_the_proxies_of_its_source(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    (path,) = rendered(site)
    name = urlsplit(site.bazaar.proxies[1]).netloc
    report = site.visit(in_browser(site.url(path)), PROXIES_DATACENTER=f"http://user:s3cr3t@{name}")
    assert "buy-box" in report[0]["body"]
    assert {entry.proxy for entry in report.log} == {1}
    assert {entry.header("proxy-authorization") for entry in report.log} == {"Basic dXNlcjpzM2NyM3Q="}
    assert report[0]["proxy_name"] == name
    for text in (report.output, repr(report.visits), repr(report.stats)):
        assert "s3cr3t" not in text
        assert "dXNlcjpzM2NyM3Q" not in text


@pytest.mark.browser
def test_the_honest_mode_is_for_the_browser_too(site: Site) -> None:
    site.source()
    report = site.visit(in_browser(site.url("/help")), HONEST_USER_AGENT=True, USER_AGENT="pricewatch (+us)")
    assert {entry.user_agent for entry in report.log} == {"pricewatch (+us)"}


def test_a_machine_without_a_browser_does_everything_else_and_says_what_is_missing(site: Site) -> None:
    site.source()
    pages: list[Visit] = [site.url("/help"), in_browser(site.url("/c/bikes"))]
    report = site.visit(*pages, path="/nowhere")
    assert report[0]["status"] == 200
    assert (report[1]["error"], report[1]["reason"]) == ("NoBrowser", "no_browser")
    assert report[1]["message"].startswith("no Chromium is installed: run `scrapy browser --install`")
    assert report.stat("browser/missing") == 1
    wrong = site.visit(*pages, CHROMIUM_PATH="/nowhere/chromium")
    assert wrong[1]["message"] == "CHROMIUM_PATH is /nowhere/chromium, and that file does not exist"
