"""`scrapy simulate` with bad input, and stopped on its way: one sentence each."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

# As Ctrl-C and SIGTERM do while the reactor runs.
STOPPED = """
import asyncio
from scrapy.utils.project import get_project_settings
from pricewatch.commands.simulate import Command, in_reactor

async def stopped_on_the_way():
    from twisted.internet import reactor
    reactor.stop()
    await asyncio.Event().wait()

command = Command()
command.days, command.faults, command.habits = 1, 0, "none"
command._live = lambda _: in_reactor(stopped_on_the_way(), get_project_settings())
command.run([], command)
raise SystemExit(command.exitcode)
"""


def test_stopped_on_its_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pricewatch: Stopped; nothing was left behind.\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["--days", "0"], ["--faults", "1"]])
def test_numbers_that_mean_nothing(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "simulate", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pricewatch: --days is more than 0")


def test_a_habit_that_no_shop_has() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "simulate", "--habits", "beyond_404,shouting"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pricewatch: There is no habit 'shouting'. Known: beyond_404, ")
