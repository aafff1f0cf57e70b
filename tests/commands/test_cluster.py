"""`scrapy cluster`: start and stop several daemons."""

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
def test_daemons_start_and_stop_together(crawl: Crawl, database: Database) -> None:
    database.do("UPDATE markets SET enabled = false")
    port = free_port(together=2)
    command = crawl.command("cluster", "--nodes", "2", "--port", str(port))

    def both_have_joined() -> bool:
        assert command.is_running(), command.end()
        rows = database.rows("SELECT name FROM nodes WHERE stopped_at IS NULL ORDER BY name")
        return [name for (name,) in rows] == ["node-1", "node-2"]

    until(both_have_joined)
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


def test_invalid_number_of_nodes_is_refused(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("cluster", "--nodes", "0").end()
    assert outcome.returncode == 2
    assert "--nodes takes a number from 1 to 32." in outcome.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_stops_daemons_despite_handlers_set_before(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def interrupt(_: float) -> None:
        """Send the signal while it waits for the first time."""
        monkeypatch.undo()
        signal.raise_signal(number)

    monkeypatch.setattr("time.sleep", interrupt)
    try:
        # `scrapy demo` has handlers left of the event loop in which it simulated its history.
        signal.signal(number, lambda *_: process.kill())
        assert daemons.watch([process]) == 0
        assert process.returncode == -signal.SIGTERM
    finally:
        process.kill()
        for each, handler in before.items():
            signal.signal(each, handler)


# Ignores SIGTERM, as a daemon does while its spiders finish.
SLOW = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print("terminated", flush=True))
print("up", flush=True)
while True:
    time.sleep(60)
"""


def test_second_signal_kills_daemons_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE)
    assert process.stdout is not None
    out = process.stdout
    assert out.readline() == b"up\n"

    def interrupt_again() -> None:
        assert out.readline() == b"terminated\n"
        os.kill(os.getpid(), signal.SIGINT)

    def interrupt(_: float) -> None:
        monkeypatch.undo()
        threading.Thread(target=interrupt_again).start()
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("time.sleep", interrupt)
    try:
        assert daemons.watch([process]) == 0
        assert process.returncode == -signal.SIGKILL
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        process.kill()
        out.close()
