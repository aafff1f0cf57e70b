"""`scrapy … | head -1`: whoever read along has seen enough, and that is no error of ours."""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import Any


class _Pipe(io.FileIO):
    """Standard output or error; what is written after its reader has gone is lost, and nothing else is."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


def survive_closed_pipe() -> None:
    """For the whole process, and so also for what is flushed when it ends. A crawl goes on to its end."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and _is_pipe(stream):
            stream.flush()
            buffer = io.BufferedWriter(_Pipe(stream.fileno(), "wb", closefd=False))
            safe = io.TextIOWrapper(
                buffer,
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, safe)


def _is_pipe(stream: Any) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
