"""A simulation that is stopped leaves nothing behind, whenever it is stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pricewatch.errors import UserError
from pricewatch.simulation import workspace
from tests.simulation.isolated_runs import check_nothing_left, command_lines_in, isolated_tmpdir, run_in
from tests.waiting import until


@pytest.fixture
def workspace_parent() -> Iterator[Path]:
    with isolated_tmpdir() as directory:
        yield directory


def database_is_being_created(workspace_parent: Path) -> bool:
    """Whether `initdb` runs; its child process may outlive it for a moment."""
    return any("--boot" in words or "--single" in words for words in command_lines_in(workspace_parent))


def database_is_up(workspace_parent: Path) -> bool:
    return bool(list(workspace_parent.glob("pricewatch-*/postgres/postmaster.pid")))


def daemon_is_up(workspace_parent: Path) -> bool:
    return any("tests.chaos.node" in words for words in command_lines_in(workspace_parent))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("words", "moment", "number"),
    [
        (("tests.chaos", "--nodes", "1"), database_is_being_created, signal.SIGINT),
        (("tests.chaos", "--nodes", "1"), daemon_is_up, signal.SIGINT),
        (("scrapy", "simulate"), database_is_being_created, signal.SIGINT),
        (("scrapy", "simulate"), database_is_up, signal.SIGTERM),
        (("scrapy", "smoke"), database_is_being_created, signal.SIGTERM),
        (("scrapy", "smoke"), database_is_up, signal.SIGINT),
    ],
)
def test_stopped_command_leaves_nothing_behind(
    workspace_parent: Path, words: tuple[str, ...], moment: Callable[[Path], bool], number: int
) -> None:
    def stop(pid: int) -> None:
        until(lambda: moment(workspace_parent), every=0.005)
        os.kill(pid, number)

    outcome = run_in(workspace_parent, *words, on_start=stop)
    assert outcome.returncode == 1, outcome.stderr
    assert "pricewatch: Stopped; nothing was left behind." in outcome.stderr
    assert "Traceback" not in outcome.stderr
    check_nothing_left(workspace_parent)


def test_directory_that_cannot_be_removed_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rmtree(_: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(workspace, "END_SECONDS", 0.2)
    monkeypatch.setattr("shutil.rmtree", rmtree)
    with pytest.raises(UserError, match="could not be removed: Operation not permitted"):
        workspace._remove(tmp_path)
