"""`scrapy chaos`: a short one survives, a broken promise is told, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from pricewatch.bazaar.client import LogEntry
from pricewatch.simulation.chaos.checks import budget
from pricewatch.simulation.chaos.instants import Instants
from tests.conftest import ROOT, Crawl
from tests.waiting import until

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def place() -> Iterator[Path]:
    """The only temporary directory that the command knows."""
    with tempfile.TemporaryDirectory(prefix="pw") as directory:
        yield Path(directory)


def chaos(place: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "chaos", *options],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def working_in(place: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if str(place) in process.environ().get("PRICEWATCH_VAR", ""):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_a_short_one_is_survived(place: Path) -> None:
    options = ["--seed", "7", "--faults", "14", "--minutes", "0.15", "--nodes", "2", "--listings", "100"]
    process = chaos(place, *options)
    told, complaints = process.communicate(timeout=900)
    assert process.returncode == 0, told + complaints
    assert "broken promises: 0" in told
    assert list(place.iterdir()) == []


@pytest.mark.slow
def test_whoever_stops_it_finds_nothing_left(place: Path) -> None:
    process = chaos(place, "--nodes", "1")
    until(lambda: len(working_in(place)) >= 2, 60)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Stopped; nothing was left behind." in complaints
    assert "Traceback" not in complaints
    until(lambda: not working_in(place), 30)
    assert list(place.iterdir()) == []


def test_bad_input_is_one_sentence(crawl: Crawl) -> None:
    outcome = crawl.command("chaos", "--faults", "0").end()
    assert outcome.returncode == 2
    assert "--faults takes 1 to 10000" in outcome.stderr


def test_a_budget_that_is_exceeded_is_noticed() -> None:
    times = [10.3, 10.6, 10.9, 11.2, 11.25]
    log = [LogEntry(1, at, "GET", "", "/", 200, None, None, {}, "", None) for at in times]
    assert budget(log, 5).broken == []
    assert budget(log, 4).broken == ["5 requests within 1 s at 00:00:10, at ms 0 300 600 900 950"]


def test_instants_that_were_leapt_over_came_when_the_clock_was_moved() -> None:
    instants = Instants()
    moved_at = NOON + timedelta(minutes=10)
    instants.move(moved_at, timedelta(hours=2))
    assert instants.real(NOON) == NOON
    assert instants.real(NOON + timedelta(hours=1)) == moved_at
    assert instants.real(NOON + timedelta(hours=3)) == NOON + timedelta(hours=1)
    instants.move(NOON + timedelta(hours=2), timedelta(hours=1))
    assert instants.real(NOON + timedelta(hours=4, minutes=30)) == NOON + timedelta(hours=2)
    assert instants.real(NOON + timedelta(hours=6)) == NOON + timedelta(hours=3)
