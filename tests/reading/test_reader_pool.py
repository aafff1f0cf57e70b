"""Reader processes: their results, their limits, and how they end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from pricewatch.adapters.base import Adapter
from pricewatch.items import ExtractFailure
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXTRACT, PRESENCE
from pricewatch.reading.page_reader import PageReader
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.reading.reader_pool import ReaderPool
from pricewatch.reading.reader_process import AdapterError
from tests.conftest import ROOT
from tests.reading.slow_adapters import scripted_adapter
from tests.waiting import until

LIMITS = ReadLimits(seconds=0.5, processes=2, megabytes=600)


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    running = ReaderPool(LIMITS)
    yield running
    running.close()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Adapter:
    return scripted_adapter(monkeypatch)


def response(order: str) -> HtmlResponse:
    return HtmlResponse("https://scripted.example/1", body=order.encode(), encoding="utf-8")


def read(pool: ReaderPool, adapter: Adapter, order: str = "") -> str:
    """Let a reader process do what the page says; return its process id."""
    found = pool.read(adapter_task(EXTRACT, adapter, response(order)))
    assert isinstance(found, ExtractFailure)
    return process_id(found)


def process_id(found: ExtractFailure) -> str:
    return found.details.split()[0].removeprefix("pid=")


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("backtrack", "not read within 0.5 seconds"),
        ("sleep", "not read within 0.5 seconds"),
        ("allocate 2000", "not read within 600 MB of memory"),
        ("allocate 480", "not read within 600 MB of memory"),
        ("exit", "not read: the reader process ended with status 3"),
    ],
)
def test_process_that_exceeds_a_limit_is_replaced(
    pool: ReaderPool, adapter: Adapter, order: str, why: str
) -> None:
    before = read(pool, adapter)
    with pytest.raises(ReadTimeout) as timeout:
        read(pool, adapter, order)
    assert str(timeout.value) == why
    assert read(pool, adapter) != before


def test_process_is_kept_after_an_error_of_the_adapter(pool: ReaderPool, adapter: Adapter) -> None:
    before = read(pool, adapter)
    with pytest.raises(AdapterError, match="LookupError: no such thing") as error:
        read(pool, adapter, "raise")
    assert str(error.value) == "LookupError: no such thing"
    assert "slow_adapters.py" in error.value.__notes__[0]
    with pytest.raises(AdapterError, match="str is not a result of presence"):
        pool.read(adapter_task(PRESENCE, adapter, response("")))
    assert read(pool, adapter) == before


def test_process_that_has_grown_is_replaced(pool: ReaderPool, adapter: Adapter) -> None:
    grown = read(pool, adapter, "allocate 300")
    assert read(pool, adapter) != grown


def test_number_of_processes_is_limited(pool: ReaderPool, adapter: Adapter) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: read(pool, adapter), range(40)))
    assert len(found) <= LIMITS.processes


def test_pages_of_other_threads_are_read_in_a_process(adapter: Adapter) -> None:
    reader = PageReader(Settings({"READ_DEADLINE_SECONDS": 5}))
    with ThreadPoolExecutor(1) as threads:
        found: Any = threads.submit(reader.read, EXTRACT, adapter, response("")).result()
    assert process_id(found) != str(os.getpid())
    here: Any = reader.read(EXTRACT, adapter, response(""))
    assert process_id(here) == str(os.getpid())
    reader.pool.close()


def test_reader_knows_no_secrets(pool: ReaderPool, adapter: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "PRICEWATCH_SECRET", "PRICEWATCH_PASSWORD", "HTTPS_PROXY", "REDIS_URL"):
        monkeypatch.setenv(name, "marker")
    with pytest.raises(ReadTimeout):
        read(pool, adapter, "exit")
    pool.close()
    number = int(read(pool, adapter))
    environment = psutil.Process(number).environ()
    assert "marker" not in environment.values()
    assert {"PATH", "PYTHONPATH"} <= set(environment)


def test_the_system_limits_the_process(pool: ReaderPool, adapter: Adapter) -> None:
    process = psutil.Process(int(read(pool, adapter)))
    size = LIMITS.megabytes * 2**20
    assert process.rlimit(resource.RLIMIT_AS) == (size, size)
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        assert process.rlimit(kind) == (0, 0)


PARENT = """
import sys
from pricewatch import adapters
from tests.reading.slow_adapters import SCRIPTED
from tests.reading.test_reader_pool import ReaderPool, ReadLimits, read
adapters.REGISTERED.update(SCRIPTED)
pool, adapter = ReaderPool(ReadLimits(seconds=5)), adapters.get("scripted")
print(read(pool, adapter), flush=True)
read(pool, adapter, sys.argv[1])
sys.stdin.read()
"""


@pytest.mark.parametrize("order", ["", "backtrack"])
@pytest.mark.proof
def test_reader_does_not_outlive_its_parent(order: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, order],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout
        reader = psutil.Process(int(parent.stdout.readline()))
        assert Path(reader.cwd()) == ROOT
        begun = reader.cpu_times().user
        # Without a parent, only its own timer ends a process that is reading.
        until(lambda: not order or reader.cpu_times().user > begun + 0.5)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE)
