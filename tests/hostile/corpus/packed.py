"""Packed bodies: bombs, polyglots, several members, stacked encodings, truncated and damaged ones."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import cache
from random import Random

import brotli  # type: ignore[import-untyped]

from pricewatch.fetching.decompression import zstd
from tests.hostile.corpus.hostile_page import HTML, PRODUCT, Pages, document, kind, page


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def brotli_pack(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=3))


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "brotli": ("br", brotli_pack),
    "zstd": ("zstd", zstd.compress),
}
KETTLE = document(PRODUCT).encode()


def packed_in(encoding: str) -> dict[str, str]:
    return {**HTML, "Content-Encoding": encoding}


@cache
def bomb(name: str, megabytes: int) -> bytes:
    """A page of blanks that ends like one of a shop."""
    pack = PACKERS[name][1]
    if name in ("gzip", "x-gzip", "zlib", "raw deflate"):
        bits = {"zlib": zlib.MAX_WBITS, "raw deflate": -zlib.MAX_WBITS}.get(name, 16 + zlib.MAX_WBITS)
        compressor = zlib.compressobj(9, wbits=bits)
        parts = [compressor.compress(b" " * 1_000_000) for _ in range(megabytes)]
        return b"".join([*parts, compressor.compress(KETTLE), compressor.flush()])
    return pack(b" " * (megabytes * 1_000_000) + KETTLE)


def packed(name: str, body: bytes = KETTLE) -> bytes:
    return PACKERS[name][1](body)


def twice(name: str, megabytes: int) -> bytes:
    return PACKERS[name][1](bomb(name, megabytes))


def cut(name: str, share: float) -> bytes:
    whole = packed(name, KETTLE + Random(1).randbytes(30_000))
    return whole[: int(len(whole) * share)]


def damaged(name: str, seed: int) -> bytes:
    chance = Random(f"{name} {seed}")
    body = bytearray(packed(name, KETTLE + Random(1).randbytes(20_000)))
    for _ in range(8):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return bytes(body)


def followed(name: str, after: bytes, number: int) -> bytes:
    return packed(name) + after * number


def polyglot(megabytes: int) -> bytes:
    """Bytes that are a short stream to one reader and a long one to another.

    The first two bytes are a valid zlib header and at the same time the start of a stored raw block.
    """
    long = bomb("raw deflate", megabytes)
    return b"\x78\x01" + raw_deflate(KETTLE) + long + zlib.compress(KETTLE)


def members(number: int) -> bytes:
    return gzip.compress(KETTLE) + gzip.compress(b"") * number


@kind("bombs")
def bombs() -> Pages:
    for name, (encoding, _) in PACKERS.items():
        for megabytes in (9, 11, 100, 400):
            yield page(f"{megabytes} MB in {name}", bomb, name, megabytes, headers=packed_in(encoding))
        yield page(
            f"200 MB packed twice in {name}", twice, name, 200, headers=packed_in(f"{encoding}, {encoding}")
        )
        yield page(
            f"50 MB packed twice in {name}, once declared", twice, name, 50, headers=packed_in(encoding)
        )
    for megabytes in (1, 20, 150):
        yield page(f"a polyglot of {megabytes} MB", polyglot, megabytes, headers=packed_in("deflate"))
    for megabytes in (20, 100):
        for name in ("gzip", "raw deflate", "brotli", "zstd"):
            for encoding in ("gzip", "deflate", "br", "zstd"):
                yield page(
                    f"{megabytes} MB in {name} as {encoding}",
                    bomb,
                    name,
                    megabytes,
                    headers=packed_in(encoding),
                )


@kind("packed")
def packed_pages() -> Pages:
    for name, (encoding, _) in PACKERS.items():
        yield page(f"{name}", packed, name, headers=packed_in(encoding))
        for share in (0.02, 0.3, 0.7, 0.99):
            yield page(f"{share:.0%} of {name}", cut, name, share, headers=packed_in(encoding))
        for seed in range(3):
            yield page(f"damaged {name} {seed}", damaged, name, seed, headers=packed_in(encoding))
        for after in (b"\0", b"rubbish", packed(name)):
            for number in (1, 3_000):
                title = f"{name}, then {number} times {after[:8]!r}"
                yield page(title, followed, name, after, number, headers=packed_in(encoding))
    for number in (10, 40_000):
        yield page(f"gzip with {number} empty members", members, number, headers=packed_in("gzip"))
    for encodings in (
        "gzip, gzip", "identity", "br, gzip", "gzip;q=1", "GZIP", "x-unknown", "", ",", "gzip, x-unknown", "deflate, gzip",
        ", ".join(["gzip"] * 5_000), "compress", "dcb", "aes128gcm", "gzip\x00",
    ):  # fmt: skip
        yield page(f"gzip declared as {encodings[:24]!r}", packed, "gzip", headers=packed_in(encodings))
        yield page(f"nothing packed as {encodings[:24]!r}", bytes, KETTLE, headers=packed_in(encodings))
