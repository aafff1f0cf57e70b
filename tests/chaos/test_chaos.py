"""`python -m tests.chaos`: a short run survives, and a broken promise is reported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pricewatch.bazaar.client import LogEntry
from tests.chaos.checks import budget
from tests.chaos.instants import Instants
from tests.simulation.places import check_nothing_left, only_place, run_in

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.proof
def test_a_short_one_is_survived() -> None:
    options = ["--seed", "7", "--faults", "14", "--minutes", "0.15", "--nodes", "2", "--listings", "100"]
    with only_place() as place:
        outcome = run_in(place, "tests.chaos", *options)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        assert "broken promises: 0" in outcome.stdout
        check_nothing_left(place)


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    outcome = run_in(tmp_path, "tests.chaos", "--faults", "0")
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
