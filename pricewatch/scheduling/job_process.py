"""The process of one job: records its exit status and its last error line, and can be stopped."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any

from scrapyd.launcher import ScrapyProcessProtocol
from twisted.internet import error
from twisted.python.failure import Failure

from pricewatch.scheduling.daemon_log import redact
from pricewatch.store.queues.job_leases import JobResult
from pricewatch.store.queues.job_queue import ClaimedJob

# Everything that one job prints is logged by the daemon, up to this.
MAX_OUTPUT_BYTES = 256 * 1024
MAX_REASON = 500
ERROR_TAIL_BYTES = 16 * 1024


def signal_number(name: str) -> int | None:
    """The number of a signal that is given by name or number; None if there is no such signal."""
    with suppress(KeyError, ValueError):
        if name.isdecimal():
            return signal.Signals(int(name))
        return signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    return None


class JobProcess(ScrapyProcessProtocol):
    def __init__(self, claimed: ClaimedJob, env: dict[str, str], args: list[str]) -> None:
        super().__init__(claimed.project, claimed.spider, claimed.job_id, env, args)
        self.claimed = claimed
        self.exit_code: int | None = None
        self.exit_signal: int | None = None
        self.failure: str | None = None
        # Cancel requests that have been passed on to the process.
        self.cancels = 0
        # Another node has taken over the job: the outcome is not recorded.
        self.is_lost = False
        # The daemon stops: the job goes back into the queue unless its spider finishes.
        self.is_stopping = False
        self._error_tail = b""
        self._output_bytes = 0
        self._kill: Any = None

    def outReceived(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        if self._is_logged(data):
            super().outReceived(data)

    def errReceived(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        if self._is_logged(data):
            super().errReceived(data)
        self._error_tail = (self._error_tail + data)[-ERROR_TAIL_BYTES:]

    def _is_logged(self, data: bytes) -> bool:
        """Whether output is logged; the message about the limit is logged once."""
        before, self._output_bytes = self._output_bytes, self._output_bytes + len(data)
        if before <= MAX_OUTPUT_BYTES < self._output_bytes:
            self.log("error", f"More than {MAX_OUTPUT_BYTES} bytes of output; the rest is left out:")
        return self._output_bytes <= MAX_OUTPUT_BYTES

    def processEnded(self, status: Failure) -> None:  # noqa: N802 - twisted's name
        if self._kill is not None and self._kill.active():
            self._kill.cancel()
        value: Any = status.value
        self.exit_code, self.exit_signal = value.exitCode, value.signal
        super().processEnded(status)

    def failed_to_start(self, failure: Failure) -> None:
        self.failure = redact(f"it could not be started ({failure.getErrorMessage()})")
        self.log("error", self.failure)

    def send(self, name: str) -> None:
        """Send a signal, by name or number; does nothing if the process has ended."""
        with suppress(error.ProcessExitedAlready, AttributeError):
            self.transport.signalProcess(signal_number(name) or signal.SIGINT)

    def kill(self) -> None:
        """Kill the process group, which includes a browser that the spider started."""
        with suppress(OSError):
            if self.pid is not None and os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, signal.SIGKILL)
        self.send("KILL")

    def kill_after(self, seconds: float, reactor: Any) -> None:
        """Kill the process if it has not ended after so many seconds."""
        if self._kill is None:
            self._kill = reactor.callLater(seconds, self.kill)

    @property
    def ended(self) -> JobResult:
        """The outcome for the job's row; `pending` puts the job back into the queue."""
        if self.failure is not None:
            return JobResult(self.claimed.id, "failed", reason=self.failure)
        if self.exit_code == 0:
            return JobResult(self.claimed.id, "finished", exit_code=0)
        if self.is_stopping:
            return JobResult(self.claimed.id, "pending", reason="its node was stopped")
        return JobResult(self.claimed.id, "failed", self.exit_code, self.exit_signal, self._last_error_line())

    def _last_error_line(self) -> str | None:
        lines = self._error_tail.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return redact(last.removeprefix("pricewatch: "))[:MAX_REASON] or None
