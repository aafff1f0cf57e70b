"""`python -m tests.chaos`: a short run keeps every guarantee, and violations are reported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pricewatch.bazaar.client import LogEntry
from tests.chaos.checks import check_rate_limit
from tests.chaos.clock_moves import ClockMoves
from tests.simulation.isolated_runs import check_nothing_left, isolated_tmpdir, run_in

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.proof
def test_short_chaos_run_keeps_every_guarantee() -> None:
    options = ["--seed", "7", "--faults", "14", "--minutes", "0.15", "--nodes", "2", "--listings", "100"]
    with isolated_tmpdir() as tmpdir:
        outcome = run_in(tmpdir, "tests.chaos", *options)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        assert "broken guarantees: 0" in outcome.stdout
        check_nothing_left(tmpdir)


def test_invalid_number_of_faults_is_refused(tmp_path: Path) -> None:
    outcome = run_in(tmp_path, "tests.chaos", "--faults", "0")
    assert outcome.returncode == 2
    assert "--faults takes 1 to 10000" in outcome.stderr


def test_exceeded_rate_limit_is_reported() -> None:
    times = [10 + 0.5 * number for number in range(20)] + [19.75, 31.0]
    log = [LogEntry(1, at, "GET", "", "/", 200, None, None, {}, "", None) for at in times]
    assert check_rate_limit(log, 2.1).broken == []
    assert check_rate_limit(log, 2).broken == ["21 requests within 10 s at 00:00:10"]


def test_skipped_times_are_dated_to_the_move_of_the_clock() -> None:
    moves = ClockMoves()
    moved_at = NOON + timedelta(minutes=10)
    moves.add(moved_at, timedelta(hours=2))
    assert moves.real(NOON) == NOON
    assert moves.real(NOON + timedelta(hours=1)) == moved_at
    assert moves.real(NOON + timedelta(hours=3)) == NOON + timedelta(hours=1)
    moves.add(NOON + timedelta(hours=2), timedelta(hours=1))
    assert moves.real(NOON + timedelta(hours=4, minutes=30)) == NOON + timedelta(hours=2)
    assert moves.real(NOON + timedelta(hours=6)) == NOON + timedelta(hours=3)
