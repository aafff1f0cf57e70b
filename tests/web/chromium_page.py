"""Fixtures of the browser tests: Chromium, and a page that fails the test for every problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.conftest import chromium_path

TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), timeout=TIMEOUT_MS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, serve: Callable[..., str]) -> Iterator[Page]:
    """A page that fails the test for every console message, script error or foreign request."""
    address = serve()
    context = chromium.new_context(base_url=address)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    problems: list[str] = []
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: _check_host(request.url, address, problems))
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " e => console.error('policy', e.violatedDirective))"
    )
    yield page
    context.close()
    assert problems == []


def _check_host(url: str, address: str, problems: list[str]) -> None:
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") and parts.netloc != urlsplit(address).netloc:
        problems.append(f"requested {url}")
