"""Where pages are read, and texts that cannot be encoded."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.reading.page_reader import PageReader, may_block
from pricewatch.reading.page_task import display_task
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.reading.reader_pool import ReaderPool

URL = "https://shop.example/p/1"
NAMES = b" ".join(b"%x" % number for number in range(25_000))
# The parser takes quadratic time for the attributes of one element, however they are written.
FLOODS = {
    "plain": b"<p " + NAMES + b">",
    "long tag name": b"<" + b"p" * 500 + b" " + NAMES + b">",
    "many spaces": b"<p " + NAMES.replace(b"00 ", b"00" + b" " * 500) + b">",
    "slashes": b"<p/" + NAMES.replace(b" ", b"/") + b">",
    "NUL": b"<\0p " + NAMES + b">",
    "UTF-16": (b"<p " + NAMES + b">").decode().encode("utf-16"),
    "a quote in a name": b'<p q" z=">" ' + NAMES + b">",
    "brackets in values": b"<p " + b"".join(b'%x="><p"' % number for number in range(25_000)) + b">",
    "unquoted values": b"<p " + NAMES.replace(b" ", b"=a ") + b">",
    "no end": b"<p " + NAMES,
    "in a script": b"<script>a <b='</script><p " + NAMES + b">",
}


def test_broken_characters_do_not_stop_a_result() -> None:
    pool = ReaderPool(ReadLimits())
    page = '<html><p id="\ud800">a</p>'.encode("utf-8", "surrogatepass")
    assert "<p" in pool.read(display_task(page, "utf-8", "/page.css"))
    assert "<p" in pool.read(display_task(page, "no such encoding", "/page.css"))
    pool.close()


def test_only_pages_that_a_signal_can_interrupt_are_read_in_the_crawl() -> None:
    reader = PageReader(Settings({"READ_PROCESS_BYTES": 100}))
    small, large = HtmlResponse(URL, body=b"a" * 100), HtmlResponse(URL, body=b"a" * 101)
    for adapter_id in ("generic", "bazaar", "willhaben"):
        adapter = adapters.get(adapter_id)
        assert not reader.needs_process(adapter, small)
        assert reader.needs_process(adapter, large)
        assert reader.needs_process(CustomSelectorAdapter(adapter, {"price": "p"}), small)
    for adapter_id in ("apartments", "mercari", "sgammo"):
        assert reader.needs_process(adapters.get(adapter_id), small)


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_floods_of_attributes_are_read_in_a_process(flood: bytes) -> None:
    assert may_block(b"<html><body><h1>Kettle</h1>" + flood, ReadLimits())


def test_ordinary_attributes_are_read_in_the_crawl() -> None:
    element = (
        b'<p class="a b c" data-x=\'{"a": "<b>", "c": 1}\' style="a: b" hidden>text, with "quotes"</p>\n'
    )
    assert not may_block(b"<html><body>" + element * 500, ReadLimits())
