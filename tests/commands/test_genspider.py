"""`scrapy genspider -t pricewatch`, run in a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.conftest import ROOT

# Runs the callback of the new spider over a page.
READ = '''
from scrapy.http import HtmlResponse
from pricewatch.spiders.tea_shop import TeaShopSpider

page = b"""<article class="product"><a href="/kettle">See</a><h2> Kettle </h2><b class="price">EUR 12.50</b>
</article><article class="product"><a href="/pot">See</a><h3>Pot</h3><b class="price">9</b>
<i class="sold-out"></i></article><a rel="next" href="?page=2">more</a>"""
spider = TeaShopSpider()
print(spider.name, spider.allowed_domains, spider.start_urls)
for found in spider.parse(HtmlResponse("https://www.teashop.example/kettles", body=page)):
    print(found)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "var", ".*")
    shutil.copytree(ROOT / "pricewatch", tmp_path / "pricewatch", ignore=ignored)
    for name in ("scrapy.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.fixture
def run(project: Path) -> Run:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(project)}
        return subprocess.run(
            [sys.executable, *command], cwd=project, env=environment, capture_output=True, text=True
        )

    return run


@pytest.mark.proof
def test_generated_spider_works_unchanged(project: Path, run: Run) -> None:
    created = run("-m", "scrapy", "genspider", "-t", "pricewatch", "tea-shop", "www.teashop.example/kettles")
    assert (created.returncode, created.stderr) == (0, "")
    assert "pricewatch.spiders.tea_shop" in created.stdout
    assert "scrapy parse --spider tea-shop https://www.teashop.example/kettles" in created.stdout
    read = run("-c", READ)
    assert read.stdout.splitlines() == [
        "tea-shop ['www.teashop.example'] ['https://www.teashop.example/kettles']",
        (
            "{'url': 'https://www.teashop.example/kettle', 'title': 'Kettle', 'price': 'EUR 12.50', "
            "'currency': 'EUR', 'availability': 'LISTED'}"
        ),
        (
            "{'url': 'https://www.teashop.example/pot', 'title': 'Pot', 'price': '9', "
            "'currency': 'EUR', 'availability': 'OUT_OF_STOCK'}"
        ),
        "<GET https://www.teashop.example/kettles?page=2>",
    ], read.stderr
    assert "tea-shop" in run("-m", "scrapy", "list").stdout.split()
    linted = run("-m", "ruff", "check", "--no-cache", "pricewatch/spiders/tea_shop.py")
    assert linted.returncode == 0, linted.stdout
    formatted = run("-m", "ruff", "format", "--no-cache", "--check", "pricewatch/spiders/tea_shop.py")
    assert formatted.returncode == 0, formatted.stderr
    # A second run would overwrite the user's changes.
    again = run("-m", "scrapy", "genspider", "-t", "pricewatch", "tea_shop", "teashop.example")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_allowed_domain_has_no_port(project: Path, run: Run) -> None:
    """With a port, Scrapy would filter every page as offsite."""
    run("-m", "scrapy", "genspider", "-t", "pricewatch", "teashop", "http://localhost:8000/kettles")
    created = (project / "pricewatch" / "spiders" / "teashop.py").read_text()
    assert 'allowed_domains = ["localhost"]' in created
    assert 'start_urls = ["http://localhost:8000/kettles"]' in created


@pytest.mark.proof
def test_scrapys_templates_are_available(project: Path, run: Run) -> None:
    listed = run("-m", "scrapy", "genspider", "--list")
    assert listed.stdout.split()[2:] == ["basic", "crawl", "csvfeed", "xmlfeed", "pricewatch"]
    for template in ("basic", "crawl"):
        created = run("-m", "scrapy", "genspider", "-t", template, f"my_{template}", "shop.example")
        assert (created.returncode, created.stderr) == (0, "")
    assert "CrawlSpider" in (project / "pricewatch" / "spiders" / "my_crawl.py").read_text()
    dumped = run("-m", "scrapy", "genspider", "--dump", "pricewatch").stdout
    assert dumped.strip() == (
        (ROOT / "pricewatch" / "commands" / "genspider_templates" / "pricewatch.tmpl").read_text().strip()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "pricewatch: Give a name and a domain. Example: scrapy genspider -t pricewatch"),
        (["teashop"], "pricewatch: Give a name and a domain"),
        (["tea shop", "teashop.example"], "pricewatch: 'tea shop' is not a valid name"),
        (["../tea", "teashop.example"], "pricewatch: '../tea' is not a valid name"),
        (["teashop", 'tea"shop.example'], "pricewatch: 'tea\"shop.example' is not a domain or a URL"),
        (["teashop", 'shop.example/"'], "pricewatch: 'shop.example/\"' is not a domain or a URL"),
        (["-t", "none", "teashop", "teashop.example"], "Unable to find template: none"),
        (["-t", "../x", "teashop", "teashop.example"], "Unable to find template: ../x"),
        # A module of pricewatch.spiders that has no spider.
        (["arguments", "teashop.example"], "arguments.py already exists"),
    ],
)
@pytest.mark.proof
def test_bad_input_changes_nothing(project: Path, run: Run, words: list[str], message: str) -> None:
    spiders = project / "pricewatch" / "spiders"
    before = {path: path.read_bytes() for path in spiders.glob("*.py")}
    refused = run("-m", "scrapy", "genspider", *words)
    assert refused.returncode == 2
    assert message in refused.stdout + refused.stderr
    assert {path: path.read_bytes() for path in spiders.glob("*.py")} == before
