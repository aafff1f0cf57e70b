"""Captchas, queues and walls are told from pages; pages that load a protection script are not blocked."""

from __future__ import annotations

import pytest

from tests.middlewares.conftest import Site

GENUINE = """<!doctype html><html><head><title>Racing bike, 56 cm | Shop</title>
<script src="https://js.datadome.co/tags.js"></script>
<script src="/cdn-cgi/challenge-platform/h/b.js"></script>
<script src="https://www.google.com/recaptcha/api.js"></script></head>
<body><noscript>Please enable JavaScript</noscript><h1>Racing bike</h1>{more}</body></html>"""
PRODUCT = '<script type="application/ld+json">{"@type": "Product", "name": "x"}</script><p>€ 900</p>'
MUCH = "<p>" + "A light frame of steel, built in 1987 and ridden with care ever since. " * 60 + "</p>"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("captcha", "title says 'just a moment'"),
        ("queue", "title says 'you are in line'"),
        ("javascript_wall", "page says 'requires javascript'"),
        ("access_denied", "status 403"),
    ],
)
def test_walls(site: Site, action: str, why: str) -> None:
    site.source()
    site.bazaar.fault(action, "^/c/bikes")
    report = site.visit(site.url("/c/bikes"))
    assert (report[0]["error"], report[0]["reason"], report[0]["message"]) == (
        "BlockedPage",
        "blocked_page",
        why,
    )
    assert report.stat("blocked/pages") == 1


@pytest.mark.parametrize("status", [401, 403, 429, 451, 503])
def test_refusals_by_status(site: Site, status: int) -> None:
    site.source()
    site.bazaar.fault("status", "^/c/bikes", status=status)
    report = site.visit(site.url("/c/bikes"))
    assert (report[0]["error"], report[0]["message"]) == ("BlockedPage", f"status {status}")
    assert report.stat(f"blocked/status/{status}") == 1


def test_genuine_pages_are_not_blocked(site: Site) -> None:
    """A product, or much to read, is what was asked for, whatever scripts the page loads."""
    site.source()
    site.bazaar.fault("respond", "^/product", body=GENUINE.format(more=PRODUCT))
    site.bazaar.fault("respond", "^/much", body=GENUINE.format(more=MUCH))
    site.bazaar.fault("soft_404", "^/gone")
    paths = ["/product", "/much", "/gone", "/", "/c/bikes", "/help"]
    items = [listing.url for listing in site.bazaar.truth() if listing.state == "on_sale"]
    report = site.visit(*(site.url(path) for path in [*paths, *items[:120]]))
    assert [visit.get("status") for visit in report.visits] == [200] * len(report.visits)
    assert report.stat("blocked/pages") == 0


def test_who_asks_for_a_status_gets_it(site: Site) -> None:
    """HEAD has nothing to read, and a spider that handles a status wants to see it."""
    site.source()
    site.bazaar.behave(head="403")
    site.bazaar.fault("status", "^/c/toys", status=403)
    report = site.visit(
        {"url": site.url("/c/bikes"), "method": "HEAD", "any_status": True},
        {"url": site.url("/c/toys"), "any_status": True},
    )
    assert [visit["status"] for visit in report.visits] == [403, 403]


def test_it_can_be_switched_off(site: Site) -> None:
    site.source()
    site.bazaar.fault("captcha", "^/c/bikes")
    assert site.visit(site.url("/c/bikes"), BLOCKED_PAGES_ENABLED=False)[0]["status"] == 200
