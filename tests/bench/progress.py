"""The progress of a benchmark: one changing line on a terminal, else a line per step."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status

console = Console(stderr=True)
_status = Status("", console=console)
_began = time.monotonic()


def show_progress(step: str) -> None:
    if console.is_terminal:
        _status.start()
        _status.update(f"{_elapsed()} {step}")
    else:
        console.print(f"{_elapsed()} {step}", highlight=False)


def _elapsed() -> str:
    seconds = int(time.monotonic() - _began)
    return f"{seconds // 60:3d}:{seconds % 60:02d}"
