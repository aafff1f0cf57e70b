"""Run one benchmark module in its own process, so that the others continue if it fails."""

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

from tests.bench.metric import Metric, Skipped

TIMEOUT_SECONDS = 3600
# Long enough to stop a server and to remove its directory.
STOP_SECONDS = 60


@dataclass(slots=True)
class ModuleResult:
    module: str
    metrics: list[Metric] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str | None = None
    failed: str | None = None

    @property
    def passed(self) -> bool:
        return self.failed is None and all(metric.passed for metric in self.metrics)


def run_module(module: str, timeout: float = TIMEOUT_SECONDS) -> ModuleResult:
    """Run a module in a new process and return its metrics, or why there are none."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="pw") as directory:
        output = Path(directory) / "metrics.json"
        process = subprocess.Popen([sys.executable, "-m", "tests.bench.module_runner", module, str(output)])
        try:
            process.wait(timeout)
            result = json.loads(output.read_text()) if output.exists() else {}
        except subprocess.TimeoutExpired:
            result = {"failed": f"it did not end within {timeout:.0f} seconds"}
        finally:
            _end(process)
    if not result:
        result = {"failed": f"its process ended with {process.returncode} without a result"}
    metrics = [Metric(**each) for each in result.pop("metrics", [])]
    return ModuleResult(module, metrics, time.monotonic() - began, **result)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def result_of(module: str) -> dict[str, Any]:
    """Run a module in this process and return its result as JSON."""
    try:
        metrics = import_module(module if "." in module else f"tests.bench.{module}").run()
    except Skipped as reason:
        return {"skipped": str(reason)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failure is a row of the table
        import traceback

        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:300]}
    return {"metrics": [asdict(each) for each in metrics]}


def stop(*_: Any) -> None:
    """Interrupt the module, and ignore further signals while it stops its servers."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def main(module: str, output: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        result = result_of(module)
    except KeyboardInterrupt:
        sys.exit(130)
    Path(output).write_text(json.dumps(result))
    sys.stderr.flush()
    # Threads that the module left running must not delay the others.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
