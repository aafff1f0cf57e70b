"""Compressed bodies are read completely or not at all."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Callable
from random import Random

import brotli  # type: ignore[import-untyped]
import pytest

from pricewatch.middlewares.compression import is_complete, zstd
from tests.fetching.conftest import Site

# Hardly compressible, so that half of the compressed body contains much of the page.
PAGE = b"<html><body><h1>Bikes</h1>" + Random(1).randbytes(60_000).hex().encode() + b"</body></html>"


def _raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


COMPRESSORS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw": ("deflate", _raw_deflate),
    "brotli": ("br", lambda data: brotli.compress(data, quality=3)),
    "zstd": ("zstd", zstd.compress),
}


def test_truncated_bodies_are_refused(site: Site) -> None:
    """The Content-Length is correct: the body was truncated before it was sent."""
    site.source()
    for name, (encoding, compress) in COMPRESSORS.items():
        compressed = compress(PAGE)
        for path, body in (
            (f"/whole/{name}", compressed),
            (f"/half/{name}", compressed[: len(compressed) // 2]),
        ):
            response = {
                "body_base64": base64.b64encode(body).decode(),
                "headers": {"Content-Encoding": encoding},
            }
            site.bazaar.fault("respond", f"^{path}", **response)
    whole = site.fetch(*(site.url(f"/whole/{name}") for name in COMPRESSORS))
    assert [result["body"] for result in whole.results] == [PAGE.decode()] * len(COMPRESSORS)
    half = site.fetch(*(site.url(f"/half/{name}") for name in COMPRESSORS))
    assert [result.get("error") for result in half.results] == ["ResponseDataLossError"] * len(COMPRESSORS)


@pytest.mark.parametrize("after", [b"", b"\0" * 20, b"rubbish", gzip.compress(PAGE)])
def test_bytes_after_the_end_are_ignored(after: bytes) -> None:
    compressed = gzip.compress(PAGE) + after
    assert is_complete(compressed, b"gzip", len(PAGE))
