"""Endless or compressed responses are refused by size, without using much memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scrapy.http import HtmlResponse

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted
from tests.fetching.conftest import Site
from tests.generic_reader.pages import SHOP, page, product
from tests.spiders.conftest import World

MEGABYTE = 10**6
DEEP = 200_000


def peak_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


@pytest.mark.proof
def test_huge_responses_and_gzip_bombs_use_little_memory(site: Site) -> None:
    """With the default limit of 10 MB, compressed and decompressed."""
    site.source()
    site.bazaar.fault("big_body", "^/c/bikes", bytes=100 * MEGABYTE)
    site.bazaar.fault("gzip_bomb", "^/c/toys", bytes=300 * MEGABYTE)
    site.fetch(site.url("/help"))
    before = peak_megabytes(site.fetch_process.pid)
    report = site.fetch(site.url("/c/bikes"), site.url("/c/toys"), RETRY_TIMES=0)
    assert [result.get("reason") for result in report.results] == ["too_large", "too_large"]
    assert peak_megabytes(site.fetch_process.pid) - before < 150


@pytest.mark.parametrize(
    "data",
    [
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '{"@type":"Product","name":"x","offers":' + "[" * DEEP + "]" * DEEP + "}",
        json.dumps([product("5.00", name=f"Thing {number}") for number in range(3000)]),
        '{"price": ' + "9" * 100_000 + "}",
        '{"price": 1e' + "9" * 5_000 + "}",
    ],
)
def test_deep_or_long_json_gives_no_price_and_no_exception(data: str) -> None:
    body = page(f'<h1>Blue Kettle</h1><script type="application/ld+json">{data}</script>').encode()
    assert not isinstance(GenericAdapter().extract(HtmlResponse(SHOP, body=body)), Extracted)


@pytest.mark.proof
def test_a_market_with_endless_pages_ends(world: World) -> None:
    world.set_market(page_size=10)
    endless = {"OVERVIEW_MOST_PAGES": 3}
    for spider in ("discovery", "sweep"):
        world.crawl(spider, settings=endless, max_details=0)
        run = world.database.last_run(spider)
        assert (run.status, run.pages) == ("finished", 3)
        assert run.reasons["overview/endless"] == 1
    # The next sweep starts again at the first page.
    assert world.database.value("SELECT sweep_page FROM markets WHERE id = :id", id=world.market) is None
