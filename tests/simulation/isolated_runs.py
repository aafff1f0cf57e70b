"""Run commands with their own temporary directory, and check that they leave nothing behind."""

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

# Long enough for a whole chaos run.
TIMEOUT_SECONDS = 500


@contextmanager
def isolated_tmpdir() -> Iterator[Path]:
    """Create a directory that a command can use as TMPDIR."""
    with tempfile.TemporaryDirectory(prefix="pw") as directory:
        # The user of a server that root starts can enter it, so that the data stays in it.
        Path(directory).chmod(0o755)
        yield Path(directory).resolve()


def run_in(tmpdir: Path, *words: str, on_start: Callable[[int], None] = lambda _: None) -> Outcome:
    """Run `python -m WORDS`; `on_start` is called with its process id."""
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmpdir), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            on_start(process.pid)
            stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return Outcome(process.returncode, stdout, stderr)


def command_lines_in(tmpdir: Path) -> list[list[str]]:
    """Return the command lines of all processes whose PRICEWATCH_VAR is in this directory."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("PRICEWATCH_VAR", "").startswith(f"{tmpdir}/"):
                found.append(process.cmdline())
    return found


def check_nothing_left(tmpdir: Path) -> None:
    assert [path.name for path in tmpdir.iterdir() if path.name.startswith("pricewatch")] == []
    assert command_lines_in(tmpdir) == []
