"""Detection of captchas, waiting rooms and refusals; pages that only load a protection script pass."""

from __future__ import annotations

import time

import pytest
from scrapy.http import HtmlResponse

from pricewatch.middlewares.blocked_pages import _blocked_reason_in
from tests.fetching.conftest import Site

GENUINE = """<!doctype html><html><head><title>Racing bike, 56 cm | Shop</title>
<script src="https://js.datadome.co/tags.js"></script>
<script src="/cdn-cgi/challenge-platform/h/b.js"></script>
<script src="https://www.google.com/recaptcha/api.js"></script></head>
<body><noscript>Please enable JavaScript</noscript><h1>Racing bike</h1>{more}</body></html>"""
PRODUCT = '<script type="application/ld+json">{"@type": "Product", "name": "x"}</script><p>€ 900</p>'
LONG_TEXT = "<p>" + "A light frame of steel, built in 1987 and ridden with care ever since. " * 60 + "</p>"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("captcha", "title says 'just a moment'"),
        ("queue", "title says 'you are in line'"),
        ("javascript_wall", "page says 'requires javascript'"),
        ("access_denied", "status 403"),
    ],
)
def test_block_pages_are_detected(site: Site, action: str, why: str) -> None:
    site.source()
    site.bazaar.fault(action, "^/c/bikes")
    report = site.fetch(site.url("/c/bikes"))
    assert (report[0]["error"], report[0]["reason"], report[0]["message"]) == (
        "BlockedPage",
        "blocked_page",
        why,
    )
    assert report.stat("blocked/pages") == 1


@pytest.mark.parametrize("status", [401, 403, 429, 451, 503])
def test_refusals_by_status_are_detected(site: Site, status: int) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=status)
    report = site.fetch(site.url("/c/bikes"))
    assert (report[0]["error"], report[0]["message"]) == ("BlockedPage", f"status {status}")
    assert report.stat(f"blocked/status/{status}") == 1


def test_genuine_pages_are_not_blocked(site: Site) -> None:
    """Pages with a product or a long text are genuine, whatever scripts they load."""
    site.source()
    site.bazaar.fault("respond", "^/product", body=GENUINE.format(more=PRODUCT))
    site.bazaar.fault("respond", "^/long", body=GENUINE.format(more=LONG_TEXT))
    site.bazaar.fault("soft_404", "^/gone")
    paths = ["/product", "/long", "/gone", "/", "/c/bikes", "/help"]
    items = [listing.url for listing in site.bazaar.truth() if listing.state == "on_sale"]
    report = site.fetch(*(site.url(path) for path in [*paths, *items[:120]]))
    assert [result.get("status") for result in report.results] == [200] * len(report.results)
    assert report.stat("blocked/pages") == 0


def test_handled_statuses_reach_the_spider(site: Site) -> None:
    """HEAD responses have no body, and spiders can handle a status themselves."""
    site.source()
    site.bazaar.behave(head="403")
    site.bazaar.fault("status", "^/c/toys", status=403)
    report = site.fetch(
        {"url": site.url("/c/bikes"), "method": "HEAD", "any_status": True},
        {"url": site.url("/c/toys"), "any_status": True},
    )
    assert [result["status"] for result in report.results] == [403, 403]


def test_middleware_can_be_disabled(site: Site) -> None:
    site.source()
    site.bazaar.fault("captcha", "^/c/bikes")
    assert site.fetch(site.url("/c/bikes"), BLOCKED_PAGES_ENABLED=False)[0]["status"] == 200


@pytest.mark.parametrize("unit", [b"<title", b"<head", b"<script", b"</", b"<", b"< ", b"<svg "])
def test_repeated_tags_are_checked_in_linear_time(unit: bytes) -> None:
    response = HtmlResponse("https://shop.test/", body=unit * (400_000 // len(unit)))
    started = time.process_time()
    _blocked_reason_in(response)
    assert time.process_time() - started < 1
