"""One module of the benchmark, in a process of its own: whatever happens to it, the others go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.figure import Figure, Skipped

LONGEST_SECONDS = 3600
# Long enough for a server to be stopped and its directory to be removed.
LAST_SECONDS = 60


@dataclass(slots=True)
class Measured:
    module: str
    figures: list[Figure] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str | None = None
    failed: str | None = None

    @property
    def holds(self) -> bool:
        return self.failed is None and all(figure.holds for figure in self.figures)


def measure(module: str, longest: float = LONGEST_SECONDS) -> Measured:
    """Its figures, or why there are none."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="pw") as directory:
        answer = Path(directory) / "figures.json"
        process = subprocess.Popen([sys.executable, "-m", "tests.bench.measured", module, str(answer)])
        try:
            process.wait(longest)
            told = json.loads(answer.read_text()) if answer.exists() else {}
        except subprocess.TimeoutExpired:
            told = {"failed": f"it did not end within {longest:.0f} seconds"}
        finally:
            _end(process)
    if not told:
        told = {"failed": f"its process ended with {process.returncode} and told nothing"}
    figures = [Figure(**each) for each in told.pop("figures", [])]
    return Measured(module, figures, time.monotonic() - began, **told)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tell(module: str) -> dict[str, Any]:
    """In the process of its own."""
    try:
        figures = import_module(module if "." in module else f"tests.bench.{module}").run()
    except Skipped as reason:
        return {"skipped": str(reason)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one that fails is a line of the table
        import traceback

        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:300]}
    return {"figures": [asdict(each) for each in figures]}


def stop(*_: Any) -> None:
    """Its servers and directories go as well, and that is not disturbed by a second signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def main(module: str, answer: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        told = tell(module)
    except KeyboardInterrupt:
        sys.exit(130)
    Path(answer).write_text(json.dumps(told))
    sys.stderr.flush()
    # What a module left running does not keep the others waiting.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
