"""What a long measurement is doing: on a terminal in one line that changes, in a file line by line."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status

console = Console(stderr=True)
_status = Status("", console=console)
_began = time.monotonic()


def say(what: str) -> None:
    """Tell what is done now."""
    if console.is_terminal:
        _status.start()
        _status.update(f"{elapsed()} {what}")
    else:
        console.print(f"{elapsed()} {what}", highlight=False)


def silence() -> None:
    """Nothing is done any more: whatever is printed next stands alone."""
    _status.stop()


def elapsed() -> str:
    seconds = int(time.monotonic() - _began)
    return f"{seconds // 60:3d}:{seconds % 60:02d}"
