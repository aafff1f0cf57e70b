"""`scrapy web` where it cannot listen: one sentence."""

from __future__ import annotations

import pytest

from tests.conftest import Crawl


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--port", "99999999"], "It cannot listen on 127.0.0.1, port 99999999"),
        (["--address", "0.0.0.0"], "does not listen on 0.0.0.0 without a login"),
    ],
)
def test_where_it_cannot_listen(crawl: Crawl, words: list[str], sentence: str) -> None:
    outcome = crawl.command("web", *words).end()
    assert outcome.returncode == 1
    assert sentence in outcome.stderr
    assert outcome.stderr.count("\n") == 1
