"""Whoever stops a simulation, and whenever, finds nothing left of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pricewatch.errors import UserError
from pricewatch.simulation import workspace as places
from tests.simulation.places import check_nothing_left, only_place, run_in, working_in
from tests.waiting import until


@pytest.fixture
def place() -> Iterator[Path]:
    with only_place() as directory:
        yield directory


def database_is_being_made(place: Path) -> bool:
    """`initdb` is at work, through a process of its own, which outlives it for a moment."""
    return any("--boot" in words or "--single" in words for words in working_in(place))


def database_is_up(place: Path) -> bool:
    return bool(list(place.glob("pricewatch-*/postgres/postmaster.pid")))


def daemon_is_up(place: Path) -> bool:
    return any("tests.chaos.node" in words for words in working_in(place))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("words", "moment", "number"),
    [
        (("tests.chaos", "--nodes", "1"), database_is_being_made, signal.SIGINT),
        (("tests.chaos", "--nodes", "1"), daemon_is_up, signal.SIGINT),
        (("scrapy", "simulate"), database_is_being_made, signal.SIGINT),
        (("scrapy", "simulate"), database_is_up, signal.SIGTERM),
        (("scrapy", "smoke"), database_is_being_made, signal.SIGTERM),
        (("scrapy", "smoke"), database_is_up, signal.SIGINT),
    ],
)
def test_whoever_stops_it_finds_nothing_left(
    place: Path, words: tuple[str, ...], moment: Callable[[Path], bool], number: int
) -> None:
    def stop(pid: int) -> None:
        until(lambda: moment(place), every=0.005)
        os.kill(pid, number)

    outcome = run_in(place, *words, meanwhile=stop)
    assert outcome.returncode == 1, outcome.stderr
    assert "pricewatch: Stopped; nothing was left behind." in outcome.stderr
    assert "Traceback" not in outcome.stderr
    check_nothing_left(place)


def test_what_cannot_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(places, "END_SECONDS", 0.2)
    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(UserError, match="could not be removed: Operation not permitted"):
        places._remove(tmp_path)
