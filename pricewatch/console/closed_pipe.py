"""Ignore that the reader of a pipe is gone, as in `scrapy … | head -1`."""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import Any


class _Pipe(io.FileIO):
    """Standard output or error that discards what is written after its reader is gone."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, self.fileno())
            os.close(devnull)
            return len(data)


def survive_closed_pipe() -> None:
    """Replace the standard streams of the process, which covers the last flush; a crawl continues."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and _is_pipe(stream):
            stream.flush()
            buffer = io.BufferedWriter(_Pipe(stream.fileno(), "wb", closefd=False))
            wrapper = io.TextIOWrapper(
                buffer,
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, wrapper)


def _is_pipe(stream: Any) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
