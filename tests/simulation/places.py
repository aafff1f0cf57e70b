"""Commands that live in a temporary directory of their own, and whether they leave anything behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tests.conftest import ROOT
from tests.forked import Outcome

# A whole chaos, not one event.
LONGEST_SECONDS = 500


@contextmanager
def only_place() -> Iterator[Path]:
    """The only temporary directory that a command knows."""
    with tempfile.TemporaryDirectory(prefix="pw") as directory:
        yield Path(directory).resolve()


def run_in(place: Path, *words: str, meanwhile: Callable[[int], None] = lambda _: None) -> Outcome:
    """Run `python -m WORDS` to its end; `meanwhile` is called with its process id when it has started."""
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            meanwhile(process.pid)
            stdout, stderr = process.communicate(timeout=LONGEST_SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return Outcome(process.returncode, stdout, stderr)


def working_in(place: Path) -> list[list[str]]:
    """The command lines of all that was told to work there."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("PRICEWATCH_VAR", "").startswith(f"{place}/"):
                found.append(process.cmdline())
    return found


def check_nothing_left(place: Path) -> None:
    assert [path.name for path in place.iterdir() if path.name.startswith("pricewatch")] == []
    assert working_in(place) == []
