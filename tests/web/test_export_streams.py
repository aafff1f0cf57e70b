"""Exports of a real server to clients that read slowly, not at all, or leave."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from tests.databases import Database
from tests.hostile.connections import OpenConnection, open_connection
from tests.scheduling.conftest import Cluster, make_cluster, module_database
from tests.scheduling.daemons import Daemon
from tests.waiting import until

__all__ = ["make_cluster", "module_database"]
pytestmark = pytest.mark.proof
ROWS = 30_000
MEGABYTE = 10**6
# 60 MB in all, which no index contains and which cannot be compressed well.
FILL = """
INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, price_cents, currency,
                      availability, price_observed_at, first_seen_at, last_seen_at, image_url)
SELECT 'bazaar', 'bazaar-bikes', 'PID:x' || n, 'https://x.example/' || n, 'https://x.example/' || n,
       'Thing ' || n, n, 'EUR', 'IN_STOCK', now(), now(), now(),
       (SELECT string_agg(md5(n::text || part), '') FROM generate_series(1, 62) AS part)
FROM generate_series(1, :rows) AS n
"""
EXPORT_QUERIES = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND query LIKE '%FROM visible_listings%' AND state <> 'idle'
  AND pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def exporter(make_cluster: Callable[[], Cluster], module_database: Database) -> Daemon:
    module_database.do("UPDATE sources SET visibility = 'VISIBLE'")
    module_database.do(FILL, rows=ROWS)
    return make_cluster().start("exporter", max_stall_seconds="4").wait()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def begin_export(stack: ExitStack, daemon: Daemon, form: str = "csv") -> OpenConnection:
    """Start an export whose response is not read."""
    connection = stack.enter_context(open_connection(daemon.port, receive_buffer=64 * 1024))
    connection.begin("GET", f"/api/export/listings.{form}", Connection="close")
    assert connection.socket.recv(15) == b"HTTP/1.1 200 OK"
    return connection


def is_idle(process: psutil.Process) -> Callable[[], bool]:
    """Whether the process has used little CPU time since the last call."""
    used = [0.0]

    def has_rested() -> bool:
        before, used[0] = used[0], sum(process.cpu_times()[:2])
        return used[0] - before < 0.05

    return has_rested


def statuses(daemon: Daemon) -> int:
    with httpx.stream("GET", f"{daemon.url}/api/export/listings.csv?most=1", timeout=60) as response:
        return response.status_code


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_client_that_reads_nothing_costs_no_memory(
    exporter: Daemon, module_database: Database, stack: ExitStack, form: str
) -> None:
    process = psutil.Process(exporter.process.pid)
    # The first export loads libraries.
    complete = httpx.get(f"{exporter.url}/api/export/listings.{form}?most={ROWS // 2}", timeout=60).content
    assert len(complete) > 15 * MEGABYTE
    before = process.memory_info().rss
    connection = begin_export(stack, exporter, form)
    until(is_idle(process), every=0.5)
    growth = process.memory_info().rss - before
    assert growth < 40 * MEGABYTE, f"{growth / MEGABYTE:.0f} MB"
    assert module_database.value(EXPORT_QUERIES) == 0
    connection.socket.close()
    until(lambda: statuses(exporter) == 200)


READERS: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
    "csv": lambda content: list(csv.DictReader(io.StringIO(content.decode()))),
    "json": json.loads,
    "parquet": lambda content: parquet.read_table(io.BytesIO(content)).to_pylist(),
}


@pytest.mark.parametrize("form", READERS)
def test_a_client_that_pauses_gets_the_complete_file(exporter: Daemon, form: str) -> None:
    with open_connection(exporter.port, receive_buffer=64 * 1024) as connection:
        connection.begin("GET", f"/api/export/listings.{form}", Connection="close")
        with HTTPResponse(connection.socket) as response:
            response.begin()
            content = response.read(MEGABYTE)
            until(is_idle(psutil.Process(exporter.process.pid)), every=0.3)
            content += response.read()
    assert len({row["url"] for row in READERS[form](content)}) == ROWS


def test_a_third_export_is_refused_until_one_ends(exporter: Daemon, stack: ExitStack) -> None:
    first = begin_export(stack, exporter)
    begin_export(stack, exporter, "json")
    refused = httpx.get(f"{exporter.url}/api/export/listings.csv", timeout=60)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert refused.json()["detail"] == "2 exports are running, which is the limit: try again later."
    # Everything else is answered meanwhile.
    assert httpx.get(f"{exporter.url}/api/listings").status_code == 200
    first.socket.close()
    until(lambda: statuses(exporter) == 200)


def test_a_client_that_takes_nothing_is_disconnected(exporter: Daemon, stack: ExitStack) -> None:
    first = begin_export(stack, exporter)
    begin_export(stack, exporter)
    assert statuses(exporter) == 429
    until(lambda: statuses(exporter) == 200)
    # What was on the way arrives, then the connection ends without the last chunk.
    assert not first.read_all().endswith(b"0\r\n\r\n")
