"""The benchmark program: its table, its JSON file, and modules that fail. Nothing is timed here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bench import scale
from tests.bench.__main__ import MODULES, main, run
from tests.bench.metric import Metric, rounds
from tests.bench.module_runner import ModuleResult, run_module
from tests.bench.temporary_database import temporary_database
from tests.conftest import ROOT

GOOD = Metric("quick", 2.0, "ms", 4.0, 0.5, 1.0, less_is_better=True, note="a note")
BAD = Metric("slow", 90.0, "pages/s", 100.0, 0.9, 1.0, goal=2.0)
METRIC = "Metric('made', 1.0, 'ms', 2.0, 0.5, 1.0, less_is_better=True)"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Create a benchmark module from the body of its `run` function."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    (tmp_path / "made").mkdir()

    def make(body: str) -> str:
        source = f"from tests.bench.metric import *\ndef run():\n    {body}\n"
        (tmp_path / "made" / "up.py").write_text(source)
        return "made.up"

    return make


def test_table_and_file_have_passed_and_failed_metrics(tmp_path: Path, capsys) -> None:
    results = tmp_path / "there" / "bench.json"
    assert run(["web"], results, lambda name: ModuleResult(name, [GOOD, BAD], 1.5)) == 1
    shown = capsys.readouterr().out
    for word in (
        "quick",
        "0.50",
        "≤ 1",
        "a note",
        "slow",
        "0.90",
        "≥ 1 (goal 2)",
        "1 of 2 passed",
        "postgresql",
    ):
        assert word in shown
    written = json.loads(results.read_text())
    assert [(each["name"], each["passed"]) for each in written["metrics"]] == [
        ("quick", True),
        ("slow", False),
    ]
    assert written["modules"]["web"] == {"seconds": 1.5, "failed": None, "skipped": None}
    assert written["on"]["python"]


def test_exit_code_is_0_if_all_metrics_pass(tmp_path: Path) -> None:
    assert run(["web"], tmp_path / "bench.json", lambda name: ModuleResult(name, [GOOD])) == 0


def test_other_modules_run_after_a_failure(tmp_path: Path, capsys) -> None:
    def run_one(name: str) -> ModuleResult:
        return ModuleResult(name, failed="no reason") if name == "web" else ModuleResult(name, [GOOD])

    assert run(["web", "scale"], tmp_path / "bench.json", run_one) == 1
    shown = capsys.readouterr().out
    assert "no reason" in shown
    assert "quick" in shown
    assert json.loads((tmp_path / "bench.json").read_text())["modules"]["web"]["failed"] == "no reason"


def test_results_before_an_interrupt_are_kept(tmp_path: Path) -> None:
    def run_one(name: str) -> ModuleResult:
        if name == "scale":
            raise KeyboardInterrupt
        return ModuleResult(name, [GOOD])

    assert run(["web", "scale"], tmp_path / "bench.json", run_one) == 130
    assert len(json.loads((tmp_path / "bench.json").read_text())["metrics"]) == 1


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("raise SystemExit('not complete')", "SystemExit: not complete"),
        ("__import__('os').abort()", "its process ended with -6"),
    ],
)
def test_failure_of_a_module_is_reported(module, body: str, failed: str) -> None:
    result = run_module(module(body))
    assert result.failed is not None
    assert failed in result.failed
    assert not result.passed


def test_module_is_stopped_at_the_timeout(module) -> None:
    result = run_module(module("__import__('time').sleep(60)"), timeout=1)
    assert result.failed == "it did not end within 1 seconds"


def test_module_returns_metrics_or_is_skipped(module) -> None:
    assert run_module(module(f"return [{METRIC}]")).metrics[0].name == "made"
    skipped = run_module(module("raise Skipped('nothing to compare with')"))
    assert skipped.skipped == "nothing to compare with"
    assert skipped.passed


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


def test_bench_rounds_can_only_lower_the_number_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_ROUNDS", raising=False)
    assert rounds(7) == 7
    monkeypatch.setenv("BENCH_ROUNDS", "2")
    assert rounds(7) == 2
    assert rounds(1) == 1


@pytest.mark.proof
def test_every_query_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_ROUNDS", "1")
    monkeypatch.setattr(scale, "WARM", 0)
    sizes = (6_000, 7_000)
    metrics = scale.metrics(sizes, scale.compare(sizes))
    assert len(metrics) > 40
    assert all(metric.value > 0 for metric in metrics)


def test_temporary_database_is_always_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICEWATCH_VAR", "mine")
    directories: list[Path] = []

    def work() -> None:
        with temporary_database() as directory:
            directories.append(directory)
            (directory / "something").write_text("here")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not directories[0].exists()
    assert os.environ["PRICEWATCH_VAR"] == "mine"
