"""The adapter never raises, whatever a server sends, and gives the same result for the same page."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Response, TextResponse

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure, Quarantine
from pricewatch.vocabulary import FailureReason
from tests.generic_reader.pages import SHOP, buy, ld, outcome, page, product

ADAPTER = GenericAdapter()
COMPLETE = page(
    ld(product(), {"@graph": [product("29.99", name="Red Pot")]})
    + '<div itemscope itemtype="http://schema.org/Product"><div itemprop="offers" itemscope><b itemprop="price">19,99 €</b></div></div>'
    + buy("<del>€29.99</del> <b>€19<sup>99</sup></b> <small>€39.98/l</small>")
    + '<div class="related"><a href="/p/2"><img alt="Red Pot of iron"><b class="price">€5</b></a></div><p>In stock</p>',
    '<meta property="product:price:amount" content="19.99"><link rel="canonical" href="/p/blue-kettle-1234">',
).encode()


def read(body: bytes, url: str = SHOP) -> Extracted | ExtractFailure | Quarantine:
    return ADAPTER.extract(HtmlResponse(url, body=body))


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_page_never_raises(data):
    body = bytearray(COMPLETE)
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(body) - 1))
        end = min(len(body), start + data.draw(st.integers(0, 80)))
        body[start:end] = data.draw(
            st.binary(max_size=12)
            | st.sampled_from([b"<", b">", b'"', b"</div>", b"<div>", b"\xff\xfe", b"&#0;", b"\x00", b"9"])
        )
        body = body or bytearray(b" ")
    result = read(bytes(body))
    assert isinstance(result, (Extracted, ExtractFailure, Quarantine))
    assert read(bytes(body)) == result
    ADAPTER.presence(HtmlResponse(SHOP, body=bytes(body)))


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_give_a_result(body):
    assert isinstance(read(body), (Extracted, ExtractFailure, Quarantine))


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 5000 + b"x",
        b"<h1>a</h1>" + b"<span class=price>" * 3000 + b"1 EUR",
        b"<h1>a b</h1><script type='application/ld+json'>" + b"[" * 50_000 + b"</script>",
        b"<h1>a b</h1><script type='application/ld+json'>"
        + b'{"@type":"Product","offers":' * 400
        + b"1"
        + b"}" * 400
        + b"</script>",
        b"<h1>a b</h1>" + b"<p>1 EUR</p>" * 20_000,
        b"<h1></h1>",
        b"<html></html>",
        b"<!-- only a comment -->",
        b"plain text, no tags",
        b"<h1>a</h1><a href='http://['>1 EUR</a><link rel=canonical href='http://['>",
        b"<h1>a</h1><div itemscope itemref='a b'><div id=a itemprop=price>1</div></div>",
    ],
)
def test_hostile_pages_give_a_result(body):
    assert isinstance(read(body), (Extracted, ExtractFailure, Quarantine))


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", "utf-8"),
        ("windows-1252", "windows-1252"),
        ("windows-1251", "windows-1251"),
        ("utf-16", "utf-16"),
    ],
)
def test_declared_encodings_are_decoded(encoding, declared):
    text = page(buy("1\u00a0226,50 EUR", title="Kessel"), f'<meta charset="{declared}">', title="Kessel")
    result = ADAPTER.extract(
        HtmlResponse(
            SHOP, body=text.encode(encoding), headers={"Content-Type": f"text/html; charset={declared}"}
        )
    )
    assert isinstance(result, Extracted)
    assert result.offer.price_cents == 122650


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "utf-16"])
@pytest.mark.parametrize("prefix", ["", '<?xml version="1.0" encoding="{}"?>'])
def test_encodings_without_a_meta_tag_are_decoded(encoding, prefix):
    text = prefix.format(encoding) + page(buy("£ 19.99", title="Käse"), title="Käse")
    result = ADAPTER.extract(HtmlResponse(SHOP, body=text.encode(encoding)))
    assert isinstance(result, Extracted)
    assert (result.offer.title, result.offer.price_cents, result.offer.currency) == ("Käse", 1999, "GBP")


def test_page_with_a_wrong_encoding_declaration_is_read():
    body = page(buy("EUR 19.99", title="Käse"), '<meta charset="utf-8">', title="Käse").encode("windows-1252")
    assert isinstance(read(body), Extracted)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (Response(SHOP, body=b"\x89PNG"), FailureReason.EMPTY_PAGE),
        (TextResponse(SHOP, body=b'{"price": 1}', encoding="utf-8"), FailureReason.EMPTY_PAGE),
        (TextResponse(SHOP, body=b"", encoding="utf-8"), FailureReason.EMPTY_PAGE),
        (HtmlResponse(SHOP, status=500, body=COMPLETE), FailureReason.PAGE_STRUCTURE_CHANGED),
    ],
)
def test_responses_that_are_not_pages_fail(response, reason):
    result = ADAPTER.extract(response)
    assert isinstance(result, ExtractFailure)
    assert result.reason is reason


def test_complete_page_is_read():
    assert outcome(COMPLETE.decode()) == "19.99 EUR IN_STOCK"
