"""Pages that need JavaScript, in a real Chromium: allowed resources and addresses, restarts and failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]
import pytest

from tests.fetching.conftest import PageRequest, Site
from tests.middlewares.test_guard import Trap

pytestmark = pytest.mark.slow

HEAVY = """<!doctype html><title>Heavy</title><link rel="icon" href="/static/icon.ico">
<style>@font-face {{ font-family: x; src: url(/static/font.woff2) }} p {{ font-family: x }}</style>
<p>text</p><img src="/static/photo.png"><video src="/static/film.mp4" autoplay></video>
<script src="http://www.google-analytics.com:{port}/ga.js"></script>"""
PRIVATE_RESOURCES = """<!doctype html><title>Private</title><p id=x>loaded</p>
<iframe src="http://127.0.0.1:{trap}/frame"></iframe>
<script src="http://127.0.0.1:{trap}/script.js"></script><script>
fetch("http://inside.bazaar-test.com:{trap}/", {{mode: "no-cors"}}).catch(() => {{}});
new WebSocket("ws://127.0.0.1:{trap}/");
</script>"""


def in_browser(url: str) -> PageRequest:
    return {"url": url, "meta": {"playwright": True}}


def rendered(site: Site, number: int = 1) -> list[str]:
    """Return URLs of listings whose pages JavaScript renders."""
    return [item.url for item in site.bazaar.truth() if item.markup == "js" and item.state == "on_sale"][
        :number
    ]


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


@pytest.mark.browser
def test_page_is_rendered_by_its_scripts_without_needless_resources(site: Site) -> None:
    site.source()
    (path,) = rendered(site)
    site.bazaar.fault("respond", "^/heavy", body=HEAVY.format(port=site.port))
    site.url("/", "www.google-analytics.com")
    report = site.fetch(site.url(path), in_browser(site.url(path)), in_browser(site.url("/heavy")))
    without_browser, rendered_page, heavy = report.results
    assert "buy-box" not in without_browser["body"]
    assert "buy-box" in rendered_page["body"]
    assert heavy["status"] == 200
    requested = [entry.path for entry in report.log]
    assert [requested.count(each) for each in ("/static/app.js", "/heavy")] == [1, 1]
    assert not [each for each in requested if each.endswith((".png", ".ico", ".woff2", ".mp4", "ga.js"))]
    # The user agent is the browser's own, without "Headless".
    api = next(entry for entry in report.log if entry.path.startswith("/api/"))
    assert "Headless" not in (api.user_agent or "")
    assert "Chrome/" in (api.user_agent or "")
    assert report.stat("browser/pages") == 2
    assert report.stat("browser/requests_blocked") >= 4


@pytest.mark.browser
@pytest.mark.proof
def test_rate_limit_applies_to_the_resources_of_a_page(site: Site) -> None:
    site.source(requests_per_second=0.5, max_concurrent=1)
    pages = [in_browser(site.url(path)) for path in rendered(site, 2)]
    report = site.fetch(*pages)
    assert all("buy-box" in result["body"] for result in report.results)
    # robots.txt, and for each page the page, its script and its data.
    assert len(report.log) == 7
    assert report.stat("rate_limit/requests") >= 7
    # Chromium may send its first request late; without a limit all six take about two seconds.
    times = [entry.time for entry in report.log[1:]]
    assert max(times) - min(times) >= 8


@pytest.mark.browser
def test_browser_cannot_reach_private_networks(site: Site, trap: Trap) -> None:
    site.source()
    for number, target in enumerate(
        (
            "http://127.0.0.1:{trap}/",
            "http://inside.bazaar-test.com:{trap}/",
            "http://10.0.0.1/",
            "/private-resources",
        )
    ):
        site.bazaar.fault("redirect", f"^/go{number}", to=target.format(trap=trap.port))
    site.bazaar.fault("respond", "^/private-resources", body=PRIVATE_RESOURCES.format(trap=trap.port))
    report = site.fetch(
        *(in_browser(site.url(f"/go{number}")) for number in range(4)),
        HOSTS={"www.bazaar-test.com": "127.0.0.1", "inside.bazaar-test.com": "127.0.0.1"},
        RETRY_TIMES=0,
    )
    assert [result.get("reason") for result in report.results] == ["refused_address"] * 3 + [None]
    assert "loaded" in report[3]["body"]
    assert report.stat("guard/refused_address") >= 6
    assert trap.connections == 0


@pytest.mark.browser
@pytest.mark.proof
def test_redirects_captchas_errors_and_sizes_fail_as_without_a_browser(site: Site) -> None:
    site.source()
    site.bazaar.fault("redirect", "^/away", to=site.url("/help", "elsewhere-test.com"))
    site.bazaar.fault("redirect", "^/moved", to="/help")
    site.bazaar.fault("captcha", "^/captcha")
    site.bazaar.fault("big_body", "^/big", bytes=3_000_000)
    site.bazaar.fault("reset", "^/reset")
    paths = ("/away", "/moved", "/captcha", "/big", "/reset", "/c/nothing", "/private/")
    report = site.fetch(
        *(in_browser(site.url(path)) for path in paths), DOWNLOAD_MAXSIZE=1_000_000, RETRY_TIMES=0
    )
    away, moved, captcha, big, reset, missing, private = report.results
    assert away["reason"] == "offsite_redirect"
    assert moved["final_url"] == site.url("/help")
    assert captcha["reason"] == "blocked_page"
    assert big["reason"] == "too_large"
    assert reset["error"] in ("DownloadFailedError", "DownloadConnectionRefusedError")
    assert missing["status"] == 404
    assert private["reason"] == "robots"
    assert "/private/" not in [entry.path for entry in report.log]


@pytest.mark.browser
@pytest.mark.proof
def test_size_limit_counts_all_resources_of_one_page(site: Site) -> None:
    site.source()
    site.bazaar.fault("big_body", "^/part", bytes=90_000)
    script = "<script>(async () => { for (let n = 0; n < 1000; n++)"
    script += " await (await fetch(`/part${n}`)).text() })()</script>"
    site.bazaar.fault("respond", "^/greedy", body=f"<!doctype html><title>Greedy</title>{script}")
    pages = [in_browser(site.url("/greedy")), in_browser(site.url("/help"))]
    report = site.fetch(*pages, DOWNLOAD_MAXSIZE=100_000, BROWSER_MAX_PAGES=1, RETRY_TIMES=0)
    assert report[0]["reason"] == "too_large"
    assert report.stat("size/too_large") == 1
    assert len([entry for entry in report.log if entry.path.startswith("/part")]) < 1000
    assert report[1]["status"] == 200


@pytest.mark.browser
def test_document_that_a_script_makes_too_large_is_not_copied(site: Site) -> None:
    """The page reports another length, and grows on."""
    site.source()
    lie = "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'short'});"
    grow = "document.body.append('\u2603'.repeat(2e6)); setInterval(() => document.body.append('x'), 1);"
    site.bazaar.fault(
        "respond", "^/growing", body=f"<!doctype html><title>G</title><body><script>{lie}{grow}</script>"
    )
    pages = [in_browser(site.url("/growing")), in_browser(site.url("/help"))]
    report = site.fetch(*pages, DOWNLOAD_MAXSIZE=1_000_000, RETRY_TIMES=0)
    assert (report[0]["reason"], report[1]["status"]) == ("too_large", 200)


@pytest.mark.browser
@pytest.mark.proof
def test_page_that_takes_too_long_is_closed(site: Site) -> None:
    site.source()
    site.bazaar.fault("hang", "^/hang")
    pages = [in_browser(site.url("/hang")), in_browser(site.url("/help"))]
    report = site.fetch(*pages, BROWSER_PAGE_SECONDS=4, BROWSER_MAX_PAGES=1, RETRY_TIMES=0)
    assert report[0]["error"] == "DownloadTimeoutError"
    # The only page slot is free again.
    assert report[1]["status"] == 200
    assert report.stat("browser/timed_out") == 1


@pytest.mark.browser
@pytest.mark.proof
def test_browser_is_restarted_after_some_pages(site: Site) -> None:
    site.source()
    report = site.fetch(
        *(in_browser(site.url(f"/help?{number}")) for number in range(5)),
        BROWSER_RESTART_PAGES=2,
        BROWSER_MAX_PAGES=2,
    )
    assert [result["status"] for result in report.results] == [200] * 5
    assert report.stat("browser/restarted") == 2
    assert report.stats["playwright/page_count/max_concurrent"] <= 2


@pytest.mark.browser
@pytest.mark.proof
def test_pages_are_retried_after_a_crash(site: Site) -> None:
    site.source()
    site.bazaar.fault("hang", "^/help", seconds=20, times=1)
    killed: list[int] = []

    def crash() -> None:
        while not any(entry.path == "/help" for entry in site.bazaar.log()):
            time.sleep(0.05)
        for process in psutil.Process(site.fetch_process.pid).children(recursive=True):
            # The browsers of earlier crawls may still be closing.
            with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                if "chrom" in process.name() and "--type=" not in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(process.pid)

    crasher = threading.Thread(target=crash)
    crasher.start()
    report = site.fetch(in_browser(site.url("/help")), in_browser(site.url("/c/bikes")))
    crasher.join()
    assert killed
    assert [result["status"] for result in report.results] == [200, 200]
    assert report.stat("browser/ended") >= 2


@pytest.mark.browser
def test_browser_uses_the_proxies_of_the_source(site: Site) -> None:
    site.source(proxy_strategy="datacenter")
    (path,) = rendered(site)
    name = urlsplit(site.bazaar.proxies[1]).netloc
    report = site.fetch(in_browser(site.url(path)), PROXIES_DATACENTER=f"http://user:s3cr3t@{name}")
    assert "buy-box" in report[0]["body"]
    assert {entry.proxy for entry in report.log} == {1}
    assert {entry.header("proxy-authorization") for entry in report.log} == {"Basic dXNlcjpzM2NyM3Q="}
    assert report[0]["proxy_name"] == name
    for text in (report.output, repr(report.results), repr(report.stats)):
        assert "s3cr3t" not in text
        assert "dXNlcjpzM2NyM3Q" not in text


@pytest.mark.browser
def test_honest_user_agent_applies_to_the_browser(site: Site) -> None:
    site.source()
    report = site.fetch(in_browser(site.url("/help")), HONEST_USER_AGENT=True, USER_AGENT="pricewatch (+us)")
    assert {entry.user_agent for entry in report.log} == {"pricewatch (+us)"}


def test_without_a_browser_other_pages_are_fetched_and_the_error_says_what_to_do(site: Site) -> None:
    site.source()
    pages: list[PageRequest] = [site.url("/help"), in_browser(site.url("/c/bikes"))]
    report = site.fetch(*pages, path="/nowhere")
    assert report[0]["status"] == 200
    assert (report[1]["error"], report[1]["reason"]) == ("NoBrowser", "no_browser")
    assert report[1]["message"].startswith("no Chromium is installed: run `scrapy browser --install`")
    assert report.stat("browser/missing") == 1
    wrong = site.fetch(*pages, CHROMIUM_PATH="/nowhere/chromium")
    assert wrong[1]["message"] == "CHROMIUM_PATH is /nowhere/chromium, and that file does not exist"
