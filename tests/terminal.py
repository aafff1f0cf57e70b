"""Run commands on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.conftest import ROOT


def on_terminal(database_url: str, *words: str, typed: bytes = b"", kind: str = "xterm") -> tuple[int, str]:
    """Run `scrapy …`, type some input, and return its exit code and output."""
    parent, child = pty.openpty()
    os.write(parent, typed)
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
    except OSError:
        # The command has closed its end.
        pass
    os.close(parent)
    return process.wait(60), output.decode()
