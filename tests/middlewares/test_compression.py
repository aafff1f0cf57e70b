"""Compressed bodies are read completely or not at all."""

from __future__ import annotations

import base64
from random import Random

from tests.fetching.compressed_bodies import COMPRESSORS, polyglot
from tests.fetching.conftest import Site

# Hardly compressible, so that half of the compressed body contains much of the page.
PAGE = b"<html><body><h1>Bikes</h1>" + Random(1).randbytes(60_000).hex().encode() + b"</body></html>"


def _respond(site: Site, path: str, body: bytes, encoding: str) -> str:
    body_base64 = base64.b64encode(body).decode()
    headers = {"Content-Encoding": encoding}
    site.bazaar.fault("respond", f"^{path}", body_base64=body_base64, headers=headers)
    return site.url(path)


def test_truncated_bodies_are_refused(site: Site) -> None:
    """The Content-Length is correct: the body was truncated before it was sent."""
    site.source()
    whole, half = [], []
    for name, (encoding, compress) in COMPRESSORS.items():
        compressed = compress(PAGE)
        whole.append(_respond(site, f"/whole/{name}", compressed, encoding))
        half.append(_respond(site, f"/half/{name}", compressed[: len(compressed) // 2], encoding))
    assert [result["body"] for result in site.fetch(*whole).results] == [PAGE.decode()] * len(COMPRESSORS)
    errors = [result.get("error") for result in site.fetch(*half).results]
    assert errors == ["ResponseDataLossError"] * len(COMPRESSORS)


def test_encodings_may_be_stacked_up_to_a_limit(site: Site) -> None:
    site.source()
    compressors = list(COMPRESSORS.values())[:3]
    body = PAGE
    for _, compress in compressors:
        body = compress(body)
    names = [encoding for encoding, _ in compressors]
    _, once_more = compressors[0]
    report = site.fetch(
        _respond(site, "/three", body, ", ".join(names)),
        _respond(site, "/four", once_more(body), ", ".join([*names, names[0]])),
    )
    assert report[0]["body"] == PAGE.decode()
    assert report[1]["reason"] == "too_large"
    assert report.stat("size/too_large_unpacked") == 1


def test_only_one_framing_of_a_body_is_read(site: Site) -> None:
    """As a zlib stream the body is an incomplete page; as a raw stream it is complete, and 157 MB long."""
    site.source()
    body = polyglot(b"<html><body><h1>Bikes</h1></body></html>", 157)
    assert len(body) < 200_000
    report = site.fetch(_respond(site, "/polyglot", body, "deflate"), RETRY_TIMES=0)
    assert report[0].get("error") == "ResponseDataLossError"
