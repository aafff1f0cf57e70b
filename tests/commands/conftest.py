"""A project with a plain Scrapy spider, in which commands run as from a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import ROOT
from tests.databases import Database

PLAIN = '''
import scrapy


class PlainSpider(scrapy.Spider):
    name = "plain"
    # Scrapy finds a spider for a URL by host and port, and filters requests by the host alone.
    allowed_domains = ["127.0.0.1", "{netloc}"]
    start_urls = ["{url}/c/bikes"]

    def parse(self, response):
        """
        @url {url}/c/bikes
        @returns items 1
        """
        for card in response.css("[data-id]")[:3]:
            yield {{"title": card.attrib["data-id"], "page": response.url}}
        if "forbidden" in response.url:
            yield response.follow("/private/page")
'''

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def plain_project(marketplace: Bazaar, database: Database, tmp_path: Path) -> Run:
    """Run commands in the project with one more spider, which uses nothing of pricewatch."""
    (tmp_path / "plain_spiders.py").write_text(
        PLAIN.format(url=marketplace.url, netloc=marketplace.url.removeprefix("http://"))
    )

    def run(command: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {"DATABASE_URL": database.url, "PYTHONPATH": f"{tmp_path}:{ROOT}", **environment}
        modules = "SPIDER_MODULES=pricewatch.spiders,plain_spiders"
        return subprocess.run(
            [sys.executable, "-m", "scrapy", command, *words, "-s", modules],
            cwd=ROOT,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run
