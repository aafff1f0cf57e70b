"""One reader process: how it is started, asked and ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any, TypeVar

from pricewatch.reading import messages
from pricewatch.reading.deadline import CLOCK_FACTOR, ReadTimeout
from pricewatch.reading.page_task import PageTask
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.rules.access.child_environment import reader_variables

R = TypeVar("R")
# Imports take half a second on an idle machine.
START_SECONDS = 60.0
# The process ends itself at the deadline; it is killed this much later if it does not.
KILL_AFTER_SECONDS = 1.0


class AdapterError(Exception):
    """An adapter failed in a reader process; the message has the type of its exception."""


class ReaderEnded(Exception):
    """The process ended by itself before it received the page, for example because it was idle."""


def reader_environment() -> dict[str, str]:
    """Return the environment of reader processes: no credentials."""
    # Deployed projects are on the path of this process only.
    path = os.pathsep.join(path for path in sys.path if path)
    return {**reader_variables(os.environ), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


class ReaderProcess:
    def __init__(self, limits: ReadLimits):
        self._limits = limits
        self._connection, other_end = socket.socketpair()
        with other_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pricewatch.reading.worker", str(limits.megabytes)],
                stdin=other_end.fileno(),
                stdout=subprocess.DEVNULL,
                env=reader_environment(),
            )
        try:
            messages.receive(self._connection, time.monotonic() + START_SECONDS, messages.MAX_ANSWER_BYTES)
        except (OSError, EOFError, ValueError) as error:
            self.end()
            raise ReadTimeout(f"not read: a reader process did not start ({self._exit_status()})") from error

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def read(self, task: PageTask[R]) -> R:
        """Read a page; raises `ReadTimeout` and ends the process if the page exceeds a limit."""
        until = time.monotonic() + CLOCK_FACTOR * self._limits.seconds + KILL_AFTER_SECONDS
        try:
            self._send(task, until)
            answer, _ = messages.receive(self._connection, until, messages.MAX_ANSWER_BYTES)
        except messages.MessageTooLong:
            self.end()
            raise ReadTimeout("not read: the result is too large") from None
        except (OSError, EOFError):
            self.end()
            if self._process.returncode == 0:
                raise ReaderEnded from None
            raise ReadTimeout(self._why_ended()) from None
        return self._result(task, answer)

    def end(self) -> None:
        """Kill the process if it is still running."""
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let the process end by itself."""
        self._connection.close()
        self._process.wait()

    def _send(self, task: PageTask[Any], until: float) -> None:
        self._connection.settimeout(until - time.monotonic())
        messages.send(self._connection, messages.encode_task(task, self._limits.seconds), task.body)

    def _result(self, task: PageTask[R], answer: bytes) -> R:
        try:
            message = json.loads(answer)
            kind = message["type"]
        except (ValueError, TypeError, KeyError, RecursionError):
            self.end()
            raise ReadTimeout("not read: the answer of the reader process is not valid") from None
        if kind == "MemoryError":
            raise ReadTimeout(f"not read within {self._limits.megabytes} MB of memory")
        if kind == "error":
            error = AdapterError(str(message.get("error")))
            error.add_note(str(message.get("traceback")))
            raise error
        try:
            return messages.decode_result(task.call, message)
        except ValueError as error:
            raise AdapterError(f"its result is not valid: {error}") from None

    def _why_ended(self) -> str:
        if self._process.returncode in (-signal.SIGPROF, -signal.SIGALRM, -signal.SIGKILL):
            return f"not read within {self._limits.seconds:g} seconds"
        return f"not read: the reader process ended with {self._exit_status()}"

    def _exit_status(self) -> str:
        code = self._process.returncode
        return f"signal {-code}" if code < 0 else f"status {code}"
