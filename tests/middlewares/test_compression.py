"""Packed bodies: read as a whole, or not at all."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Callable
from random import Random

import brotli  # type: ignore[import-untyped]
import pytest

from pricewatch.middlewares.compression import is_whole, zstd
from tests.middlewares.conftest import Site

# Half of it packed gives a good deal of it unpacked, whatever packed it.
PAGE = b"<html><body><h1>Bikes</h1>" + Random(1).randbytes(60_000).hex().encode() + b"</body></html>"


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw": ("deflate", _raw_deflate),
    "brotli": ("br", lambda data: brotli.compress(data, quality=3)),
    "zstd": ("zstd", zstd.compress),
}


def test_a_body_that_was_cut_short_is_no_page(site: Site) -> None:
    """Its length is as promised: the part that is missing was lost before it was sent."""
    site.source()
    for name, (encoding, pack) in PACKERS.items():
        packed = pack(PAGE)
        for path, body in ((f"/whole/{name}", packed), (f"/half/{name}", packed[: len(packed) // 2])):
            given = {
                "body_base64": base64.b64encode(body).decode(),
                "headers": {"Content-Encoding": encoding},
            }
            site.bazaar.fault("respond", f"^{path}", **given)
    whole = site.visit(*(site.url(f"/whole/{name}") for name in PACKERS))
    assert [visit["body"] for visit in whole.visits] == [PAGE.decode()] * len(PACKERS)
    half = site.visit(*(site.url(f"/half/{name}") for name in PACKERS))
    assert [visit.get("error") for visit in half.visits] == ["ResponseDataLossError"] * len(PACKERS)


@pytest.mark.parametrize("after", [b"", b"\0" * 20, b"rubbish", gzip.compress(PAGE)])
def test_what_follows_the_end_does_no_harm(after: bytes) -> None:
    packed = gzip.compress(PAGE) + after
    assert is_whole(packed, b"gzip", len(PAGE))
