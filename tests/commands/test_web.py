"""`scrapy web` with an address or port it cannot listen on."""

from __future__ import annotations

import pytest

from tests.conftest import Crawl


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "99999999"], "Cannot listen on 127.0.0.1, port 99999999"),
        (["--address", "0.0.0.0"], "does not listen on 0.0.0.0 without a login"),
    ],
)
def test_error_is_one_line(crawl: Crawl, words: list[str], message: str) -> None:
    outcome = crawl.command("web", *words).end()
    assert outcome.returncode == 1
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1
