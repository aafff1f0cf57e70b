"""Decompression never writes more than the limit and one chunk, whatever the body is."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from random import Random

import pytest
from scrapy.exceptions import ResponseDataLossError

from pricewatch.fetching import decompression
from pricewatch.fetching.decompression import CHUNK, MAX_MEMBERS, decompress, decompressed_chunks, zstd
from pricewatch.fetching.failures import TooLarge
from tests.fetching.compressed_bodies import COMPRESSORS, polyglot, raw_deflate

PAGE = b"<html>" + Random(1).randbytes(150_000).hex().encode() + b"</html>"
LIMIT = 1_000_000
BOMB = bytes(60_000_000)

each_compressor = pytest.mark.parametrize(
    ("encoding", "compress"), COMPRESSORS.values(), ids=list(COMPRESSORS)
)
Compress = Callable[[bytes], bytes]


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all chunks that decompressors write."""
    sizes: list[int] = []

    def counted(body: bytes, encoding: bytes) -> Iterator[bytes]:
        for chunk in decompressed_chunks(body, encoding):
            sizes.append(len(chunk))
            yield chunk

    monkeypatch.setattr(decompression, "decompressed_chunks", counted)
    return sizes


@each_compressor
@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, len(PAGE)])
def test_bodies_of_every_size_are_restored(encoding: str, compress: Compress, size: int) -> None:
    assert decompress(compress(PAGE[:size]), encoding.encode(), LIMIT) == PAGE[:size]


@each_compressor
def test_runs_of_equal_bytes_are_restored(encoding: str, compress: Compress) -> None:
    """The end of such a body is still to be written when all of its input has been read."""
    for size in (CHUNK - 1, CHUNK, CHUNK + 257, 5 * CHUNK + 100):
        assert decompress(compress(bytes(size)), encoding.encode(), LIMIT) == bytes(size)


@each_compressor
def test_bombs_are_cut_at_the_limit(encoding: str, compress: Compress, chunks: list[int]) -> None:
    body = compress(BOMB)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decompress(body, encoding.encode(), LIMIT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(chunks) <= CHUNK
    assert sum(chunks) <= LIMIT + CHUNK
    assert peak < LIMIT + 10 * CHUNK


@each_compressor
def test_bombs_in_another_encoding_are_cut_at_the_limit(
    encoding: str, compress: Compress, chunks: list[int]
) -> None:
    """Two layers: the outer one is small enough, and its content expands again."""
    inner = gzip.compress(BOMB)
    outer = compress(inner)
    unpacked = decompress(outer, encoding.encode(), LIMIT)
    assert unpacked == inner
    chunks.clear()
    with pytest.raises(TooLarge):
        decompress(unpacked, b"gzip", LIMIT)
    assert sum(chunks) <= LIMIT + CHUNK


def test_a_polyglot_is_read_as_its_header_says(chunks: list[int]) -> None:
    body = polyglot(b"<html><body>Page</body></html>", 157)
    assert len(body) < 200_000
    raw = zlib.decompressobj(-zlib.MAX_WBITS)
    assert len(raw.decompress(body)) > 157_000_000
    assert raw.eof
    with pytest.raises(ResponseDataLossError, match="incomplete"):
        decompress(body, b"deflate", 10_000_000)
    assert sum(chunks) <= len(body)


@each_compressor
@pytest.mark.parametrize("kept", [1, 10, 3_000, 100_000, -20, -1])
def test_incomplete_bodies_are_refused(encoding: str, compress: Compress, kept: int) -> None:
    with pytest.raises(ResponseDataLossError):
        decompress(compress(PAGE)[:kept], encoding.encode(), LIMIT)


@each_compressor
def test_an_empty_body_is_an_empty_page(encoding: str, compress: Compress) -> None:
    """Redirects and responses without content may name an encoding."""
    assert decompress(b"", encoding.encode(), LIMIT) == b""


@pytest.mark.parametrize("encoding", [b"gzip", b"br", b"zstd"])
def test_invalid_bodies_are_refused(encoding: bytes) -> None:
    with pytest.raises(ResponseDataLossError, match="invalid"):
        decompress(b"\xff\xff<html>not compressed</html>", encoding, LIMIT)


@pytest.mark.parametrize("after", [b"", b"\0" * 20, b"rubbish", b"\0rubbish"])
@pytest.mark.parametrize(("encoding", "compress"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress)])
def test_bytes_after_the_end_are_ignored(encoding: bytes, compress: Compress, after: bytes) -> None:
    assert decompress(compress(PAGE) + after, encoding, LIMIT) == PAGE


@pytest.mark.parametrize("name", ["brotli", "zstd"])
def test_bytes_after_the_end_are_refused_where_the_format_has_none(name: str) -> None:
    encoding, compress = COMPRESSORS[name]
    for after in (b"rubbish", b"rubbish" * CHUNK):
        with pytest.raises(ResponseDataLossError):
            decompress(compress(PAGE) + after, encoding.encode(), LIMIT)


@pytest.mark.parametrize("padding", [b"", b"\0" * 20])
def test_members_of_gzip_are_concatenated(padding: bytes) -> None:
    body = gzip.compress(b"<html>") + padding + gzip.compress(b"</html>")
    assert decompress(body, b"gzip", LIMIT) == b"<html></html>"
    assert decompress(body, b"x-gzip", LIMIT) == b"<html></html>"


def test_frames_of_zstd_are_concatenated() -> None:
    body = zstd.compress(b"<html>") + zstd.compress(b"</html>")
    assert decompress(body, b"zstd", LIMIT) == b"<html></html>"


@pytest.mark.parametrize(("encoding", "compress"), [(b"gzip", gzip.compress), (b"zstd", zstd.compress)])
def test_members_are_limited(encoding: bytes, compress: Compress) -> None:
    assert decompress(compress(b"x") * MAX_MEMBERS, encoding, LIMIT) == b"x" * MAX_MEMBERS
    with pytest.raises(TooLarge, match="concatenated"):
        decompress(compress(b"x") * (MAX_MEMBERS + 1), encoding, LIMIT)


def test_zstd_windows_above_8_mb_are_refused() -> None:
    """Otherwise a body of a few bytes makes the decompressor reserve 128 MB."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    body = compressor.compress(PAGE) + compressor.flush()
    with pytest.raises(ResponseDataLossError, match="too much memory"):
        decompress(body, b"zstd", LIMIT)


def test_raw_deflate_is_recognised_by_its_missing_header() -> None:
    for size in (1, 100, len(PAGE)):
        assert decompress(raw_deflate(PAGE[:size]), b"deflate", LIMIT) == PAGE[:size]
