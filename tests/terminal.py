"""Run commands on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence

from tests.conftest import ROOT


def on_terminal(
    database_url: str,
    *words: str,
    typed: bytes = b"",
    kind: str = "xterm",
    answers: Sequence[tuple[bytes, bytes]] = (),
) -> tuple[int, str]:
    """Run `scrapy …`, type some input, and return its exit code and output.

    Each of the answers is typed when its question has been printed.
    """
    parent, child = pty.openpty()
    os.write(parent, typed)
    remaining = list(answers)
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url, "TERM": kind, "COLUMNS": "150"},
        stdin=child,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    output = b""
    try:
        while chunk := os.read(parent, 65536):
            output += chunk
            if remaining and remaining[0][0] in output:
                os.write(parent, remaining.pop(0)[1])
    except OSError:
        # The command has closed its end.
        pass
    os.close(parent)
    return process.wait(60), output.decode()
