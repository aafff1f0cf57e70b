"""`scrapy simulate`: bad input, and a signal while it runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

# Stops the reactor, as Ctrl-C and SIGTERM do.
STOPPED = """
import asyncio
from scrapy.utils.project import get_project_settings
from pricewatch.commands.simulate import Command, run_in_reactor

async def stop_the_reactor():
    from twisted.internet import reactor
    reactor.stop()
    await asyncio.Event().wait()

command = Command()
command.days, command.faults, command.habits = 1, 0, "none"
command._simulate = lambda _: run_in_reactor(stop_the_reactor(), get_project_settings())
command.run([], command)
raise SystemExit(command.exitcode)
"""


def test_stopped_simulation_prints_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pricewatch: Stopped; nothing was left behind.\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["--days", "0"], ["--faults", "1"]])
def test_options_out_of_range_are_refused(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "simulate", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pricewatch: --days takes a number above 0")


def test_unknown_habit_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "simulate", "--habits", "beyond_404,shouting"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pricewatch: Unknown habit 'shouting'. Known: beyond_404, ")
