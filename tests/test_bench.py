"""The bench itself: its table, its file, what becomes of a module that fails. Nothing is timed here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bench import scale
from tests.bench.__main__ import MODULES, main, run
from tests.bench.figure import Figure, rounds
from tests.bench.measured import Measured, measure
from tests.bench.workplace import workplace
from tests.conftest import ROOT

GOOD = Figure("quick", 2.0, "ms", 4.0, 0.5, 1.0, less_is_better=True, note="as told")
BAD = Figure("slow", 90.0, "pages/s", 100.0, 0.9, 1.0, aim=2.0)
FIGURE = "Figure('made', 1.0, 'ms', 2.0, 0.5, 1.0, less_is_better=True)"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes a module of the bench out of the body of its `run`."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    (tmp_path / "made").mkdir()

    def make(body: str) -> str:
        source = f"from tests.bench.figure import *\ndef run():\n    {body}\n"
        (tmp_path / "made" / "up.py").write_text(source)
        return "made.up"

    return make


def test_what_holds_and_what_does_not_is_in_the_table_and_in_the_file(tmp_path: Path, capsys) -> None:
    results = tmp_path / "there" / "bench.json"
    assert run(["web"], results, lambda name: Measured(name, [GOOD, BAD], 1.5)) == 1
    shown = capsys.readouterr().out
    for word in (
        "quick",
        "0.50",
        "≤ 1",
        "as told",
        "slow",
        "0.90",
        "≥ 1 (aim 2)",
        "1 of 2 held",
        "postgresql",
    ):
        assert word in shown
    written = json.loads(results.read_text())
    assert [(each["name"], each["holds"]) for each in written["figures"]] == [
        ("quick", True),
        ("slow", False),
    ]
    assert written["modules"]["web"] == {"seconds": 1.5, "failed": None, "skipped": None}
    assert written["on"]["python"]


def test_all_that_holds_ends_well(tmp_path: Path) -> None:
    assert run(["web"], tmp_path / "bench.json", lambda name: Measured(name, [GOOD])) == 0


def test_one_that_fails_is_a_line_and_the_others_go_on(tmp_path: Path, capsys) -> None:
    def take(name: str) -> Measured:
        return Measured(name, failed="no luck") if name == "web" else Measured(name, [GOOD])

    assert run(["web", "scale"], tmp_path / "bench.json", take) == 1
    shown = capsys.readouterr().out
    assert "no luck" in shown
    assert "quick" in shown
    assert json.loads((tmp_path / "bench.json").read_text())["modules"]["web"]["failed"] == "no luck"


def test_what_was_measured_before_it_was_stopped_is_kept(tmp_path: Path) -> None:
    def take(name: str) -> Measured:
        if name == "scale":
            raise KeyboardInterrupt
        return Measured(name, [GOOD])

    assert run(["web", "scale"], tmp_path / "bench.json", take) == 130
    assert len(json.loads((tmp_path / "bench.json").read_text())["figures"]) == 1


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("raise SystemExit('not complete')", "SystemExit: not complete"),
        ("__import__('os').abort()", "its process ended with -6"),
    ],
)
def test_a_module_may_end_in_any_way(module, body: str, failed: str) -> None:
    found = measure(module(body))
    assert found.failed is not None
    assert failed in found.failed
    assert not found.holds


def test_a_module_that_does_not_end_is_ended(module) -> None:
    found = measure(module("__import__('time').sleep(60)"), longest=1)
    assert found.failed == "it did not end within 1 seconds"


def test_a_module_tells_its_figures_or_why_there_are_none(module) -> None:
    assert measure(module(f"return [{FIGURE}]")).figures[0].name == "made"
    skipped = measure(module("raise Skipped('nothing to compare with')"))
    assert skipped.skipped == "nothing to compare with"
    assert skipped.holds


def test_extraction_without_pages_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PRICEWATCH_PAGES", str(tmp_path))
    assert run(["extraction"], tmp_path / "bench.json") == 0
    shown = capsys.readouterr().out
    assert f"skipped: no pages in {tmp_path}" in " ".join(shown.split())
    assert "0 of 0" not in shown


def test_help_names_every_module(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "--help"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr().out
    assert all(name in shown for name in (*MODULES, "BENCH_ROUNDS", "BENCH_SCALE"))


def test_rounds_are_at_most_as_many_as_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_ROUNDS", raising=False)
    assert rounds(7) == 7
    monkeypatch.setenv("BENCH_ROUNDS", "2")
    assert rounds(7) == 2
    assert rounds(1) == 1


def test_every_query_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_ROUNDS", "1")
    monkeypatch.setattr(scale, "WARM", 0)
    sizes = (6_000, 7_000)
    made = scale.figures(sizes, scale.compare(sizes))
    assert len(made) > 40
    assert all(figure.value > 0 for figure in made)


def test_a_workplace_is_gone_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICEWATCH_VAR", "mine")
    places: list[Path] = []

    def work() -> None:
        with workplace() as directory:
            places.append(directory)
            (directory / "something").write_text("here")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not places[0].exists()
    assert os.environ["PRICEWATCH_VAR"] == "mine"
