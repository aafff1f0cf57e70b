"""A reader process reads the same from a page as this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scrapy.http import HtmlResponse, Request, TextResponse

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.reading.page_calls import EXPLAIN, EXTRACT, PRESENCE, READ_OVERVIEW, PageCall
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.reading.reader_pool import ReaderPool
from tests.adapters.site_fixtures import FIXTURES, cases, expected, page_body, respond
from tests.generic_reader.test_shops import SHOPS

URL = "https://shop.example/p/1"


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    running = ReaderPool(ReadLimits(seconds=20))
    yield running
    running.close()


def check(pool: ReaderPool, adapter: Adapter, response: TextResponse, *calls: PageCall[object]) -> None:
    for call in calls:
        found = pool.read(adapter_task(call, adapter, response))
        assert found == getattr(adapter, call.name)(response), call.name


@pytest.mark.parametrize("adapter_id", sorted(folder.name for folder in FIXTURES.iterdir()))
def test_sites_are_read_the_same_in_a_process(pool: ReaderPool, adapter_id: str) -> None:
    for case in cases(adapter_id):
        page = expected(adapter_id, case)
        response = respond(page["url"], page_body(adapter_id, case), page.get("status", 200))
        calls = (READ_OVERVIEW,) if page["kind"] == "overview" else (EXTRACT, PRESENCE)
        check(pool, adapters.get(adapter_id), response, *calls)


def test_shops_are_read_the_same_in_a_process(pool: ReaderPool) -> None:
    adapter = adapters.get("generic").with_price_place("p.price > span")
    for path in sorted(SHOPS.glob("*.html"))[::3]:
        response = HtmlResponse(URL, body=path.read_bytes())
        check(pool, adapter, response, EXTRACT, PRESENCE, EXPLAIN)
        check(pool, CustomSelectorAdapter(adapter, {"title": "h1", "currency": "EUR"}), response, EXTRACT)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1251"])
def test_response_is_the_same_in_a_process(pool: ReaderPool, encoding: str) -> None:
    body = "<html><h1>Größe — ЖЖ</h1><p>€ 12,50</p><button>Add to cart</button>".encode(encoding, "ignore")
    request = Request(URL, meta={"redirect_urls": ["https://shop.example/other-product/999999"]})
    generic = adapters.get("generic")
    for response in (
        HtmlResponse(URL, body=body, encoding=encoding),
        HtmlResponse(URL, body=body, headers={"Content-Type": f"text/html; charset={encoding}"}),
        HtmlResponse(URL, body=body, status=403),
        HtmlResponse(URL, body=body, request=request),
        TextResponse(URL, body=body, encoding=encoding),
    ):
        check(pool, generic, response, EXTRACT, PRESENCE)
