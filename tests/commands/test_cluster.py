"""`scrapy cluster`: several daemons at once, and none left afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest

from pricewatch.scheduling import daemons
from tests.conftest import Crawl
from tests.databases import Database
from tests.ports import free_port
from tests.waiting import until


@pytest.mark.proof
def test_starts_together_and_ends_together(crawl: Crawl, database: Database) -> None:
    database.do("UPDATE markets SET enabled = false")
    port = free_port(together=2)
    command = crawl.command("cluster", "--nodes", "2", "--port", str(port))

    def both_are_there() -> bool:
        assert command.is_running(), command.end()
        rows = database.rows("SELECT name FROM nodes WHERE stopped_at IS NULL ORDER BY name")
        return [name for (name,) in rows] == ["node-1", "node-2"]

    until(both_are_there)
    with urllib.request.urlopen(f"http://127.0.0.1:{port + 1}/daemonstatus.json", timeout=60) as answer:
        assert json.load(answer)["node"] == "node-2"
    busy = crawl.command("cluster", "--nodes", "1", "--port", str(port)).end()
    assert busy.returncode == 2
    assert f"Port {port} is in use" in busy.stderr
    command.terminate()
    outcome = command.end()
    assert outcome.returncode == 0, outcome.stderr
    assert f"node-2 is at http://127.0.0.1:{port + 1}/" in outcome.stdout
    assert database.value("SELECT count(*) FROM nodes WHERE stopped_at IS NULL") == 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)


def test_bad_input_is_one_sentence(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("cluster", "--nodes", "0").end()
    assert outcome.returncode == 2
    assert "--nodes takes a number from 1 to 32." in outcome.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_whatever_ran_before(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    one = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def wanted(_: float) -> None:
        """The first time it waits, somebody wants it to end."""
        monkeypatch.undo()
        signal.raise_signal(number)

    monkeypatch.setattr("time.sleep", wanted)
    try:
        # As an event loop leaves it behind that has ended: `scrapy demo` has lived through its days in one.
        signal.signal(number, lambda *_: one.kill())
        assert daemons.watch([one]) == 0
        assert one.returncode == -signal.SIGTERM
    finally:
        one.kill()
        for each, handler in before.items():
            signal.signal(each, handler)


# Told to end, it takes its time, as a daemon does whose spiders are still at work.
SLOW = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print("told", flush=True))
print("up", flush=True)
while True:
    time.sleep(60)
"""


def test_who_asks_a_second_time_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    one = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE)
    assert one.stdout is not None
    out = one.stdout
    assert out.readline() == b"up\n"

    def ask_again() -> None:
        assert out.readline() == b"told\n"
        os.kill(os.getpid(), signal.SIGINT)

    def ask(_: float) -> None:
        monkeypatch.undo()
        threading.Thread(target=ask_again).start()
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("time.sleep", ask)
    try:
        assert daemons.watch([one]) == 0
        assert one.returncode == -signal.SIGKILL
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        one.kill()
        out.close()
