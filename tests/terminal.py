"""Commands on a terminal of their own, as a person has one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.conftest import ROOT


def on_terminal(database_url: str, *words: str, typed: bytes = b"", kind: str = "xterm") -> tuple[int, str]:
    """The exit code of `scrapy …`, and what it showed to somebody who typed this."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url, "TERM": kind, "COLUMNS": "150"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        # The other end is closed.
        pass
    os.close(ours)
    return process.wait(60), shown.decode()
