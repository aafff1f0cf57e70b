"""Pages may name the encodings of the Encoding Standard, and no other codecs of Python."""

from __future__ import annotations

import codecs
import time

import pytest
from scrapy.http import HtmlResponse
from scrapy_playwright._utils import _encode_body
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.parsing.page_encodings import codec_of
from pricewatch.parsing.pages.element_tree import parse_response

# One name of each encoding of the standard, with the codec that decodes it.
STANDARD = {
    "UTF-8": "utf-8", "ibm866": "cp866", "iso-8859-2": "iso8859-2", "latin3": "iso8859-3", "l4": "iso8859-4",
    "cyrillic": "iso8859-5", "arabic": "iso8859-6", "greek": "iso8859-7", "hebrew": "iso8859-8",
    "logical": "iso8859-8", "latin6": "iso8859-10", "iso885913": "iso8859-13", "iso-8859-14": "iso8859-14",
    "iso-8859-15": "iso8859-15", "iso-8859-16": "iso8859-16", "koi8-r": "koi8-r", "koi8-ru": "koi8-u",
    "macintosh": "mac-roman", "tis-620": "cp874", "windows-1250": "cp1250", "x-cp1251": "cp1251",
    "iso-8859-1": "cp1252", "us-ascii": "cp1252", "windows-1253": "cp1253", "latin5": "cp1254",
    "cp1255": "cp1255", "windows-1256": "cp1256", "windows-1257": "cp1257", "windows-1258": "cp1258",
    "x-mac-cyrillic": "mac-cyrillic", "gb2312": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs",
    "x-euc-jp": "euc_jp", "iso-2022-jp": "iso2022_jp", "shift_jis": "cp932", "ks_c_5601-1987": "cp949",
    "utf-16be": "utf-16-be", "utf-16le": "utf-16-le", "utf-16": "utf-16", "unicode": "utf-16-le",
}  # fmt: skip
OTHERS = [
    "punycode", "idna", "undefined", "hex", "rot13", "base64", "zlib", "bz2", "uu", "quopri", "utf-7",
    "utf-32", "unicode_escape", "raw_unicode_escape", "charmap", "hz", "iso-2022-kr", "cp037", "cp437",
    "johab", "mbcs", "x-user-defined", "replacement", "aliases", "ü", "", "\0", "a" * 10_000,
]  # fmt: skip
PAGE = "<html><head>{meta}<title>Grüße</title></head><body><h1>Grüße</h1><p>12,50 €</p></body></html>"


@pytest.mark.parametrize("name", STANDARD)
def test_encodings_of_the_standard_are_decoded(name: str) -> None:
    assert codec_of(name) == STANDARD[name]
    assert codecs.lookup(STANDARD[name]).name == STANDARD[name]


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_read_as_none(name: str) -> None:
    assert codec_of(name) is None


@pytest.mark.parametrize("name", OTHERS[:-4])
@pytest.mark.parametrize("place", ["header", "meta", "saved"])
def test_pages_that_name_another_codec_are_read(name: str, place: str) -> None:
    meta = f'<meta charset="{name}">' if place == "meta" else ""
    headers = {"Content-Type": f"text/html; charset={name}"} if place == "header" else {}
    more = {"encoding": name} if place == "saved" else {}
    response = HtmlResponse(
        "https://shop.test/1", body=PAGE.format(meta=meta).encode(), headers=headers, **more
    )
    page = parse_response(response)
    assert page is not None
    assert page.root.findtext(".//h1") == "Grüße"
    GenericAdapter().extract(response)


@pytest.mark.parametrize("name", ["punycode", "hex"])
def test_browser_pages_that_name_another_codec_are_encoded_as_utf_8(name: str) -> None:
    """The handler of the browser encodes the text of a page again, in the encoding that the page names."""
    headers = {"content-type": f"text/html; charset={name}".encode()}
    body, encoding = _encode_body(headers, PAGE.format(meta=f'<meta charset="{name}">'))
    assert (encoding, body.decode()[:6]) == ("utf-8", "<html>")
    assert http_content_type_encoding(f"text/html; charset={name}") is None
    assert html_body_declared_encoding(f'<meta charset="{name}">') is None


def test_a_page_in_punycode_costs_no_time() -> None:
    body = b"<html><body>" + b"a" * 400_000 + b"-" + b"9" * 400_000
    response = HtmlResponse(
        "https://shop.test/1", body=body, headers={"Content-Type": "text/html; charset=punycode"}
    )
    started = time.process_time()
    assert response.text.startswith("<html>")
    assert time.process_time() - started < 1


@pytest.mark.proof
@pytest.mark.parametrize("codec", sorted(set(STANDARD.values())))
def test_each_encoding_is_decoded_in_linear_time(codec: str) -> None:
    for unit in (b"\xff", b"\x80\xff", b"\x1b$B!", b"\x81", b"\xd8\x00", bytes(range(256))):
        seconds = []
        for length in (16 * 1024, 128 * 1024):
            data = (unit * length)[:length]
            seconds.append(min(_seconds(data, codec) for _ in range(3)))
        assert seconds[1] < max(0.01, 16 * seconds[0]), unit


def _seconds(data: bytes, codec: str) -> float:
    started = time.process_time()
    data.decode(codec, "replace")
    return time.process_time() - started
