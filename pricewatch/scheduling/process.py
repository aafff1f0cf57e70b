"""One spider's process: remembers how it ended and what it complained about, and can be stopped."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any

from scrapyd.launcher import ScrapyProcessProtocol
from twisted.internet import error
from twisted.python.failure import Failure

from pricewatch.store.queues.job_leases import Ended
from pricewatch.store.queues.job_queue import ClaimedJob


def signal_number(name: str) -> int | None:
    """A signal by its name or number; None where the system knows no such thing."""
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
        # How many requests to cancel have been passed on.
        self.cancels = 0
        # Not ours any more: whatever it does does not count.
        self.is_lost = False
        # Told to stop because the daemon does; what did not come to a good end is given back.
        self.is_stopping = False
        self._last_words = ""
        self._kill: Any = None

    def errReceived(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        super().errReceived(data)
        lines = [line for line in data.decode(errors="replace").splitlines() if line.strip()]
        self._last_words = lines[-1] if lines else self._last_words

    def processEnded(self, status: Failure) -> None:  # noqa: N802 - twisted's name
        if self._kill is not None and self._kill.active():
            self._kill.cancel()
        value: Any = status.value
        self.exit_code, self.exit_signal = value.exitCode, value.signal
        super().processEnded(status)

    def failed_to_start(self, failure: Failure) -> None:
        self.failure = f"it could not be started ({failure.getErrorMessage()})"
        self.log("error", self.failure)

    def send(self, name: str) -> None:
        """A signal, by name or number; it may have ended already."""
        with suppress(error.ProcessExitedAlready, AttributeError):
            self.transport.signalProcess(signal_number(name) or signal.SIGINT)

    def kill(self) -> None:
        """Let nothing of it be left: a browser that it started is of the same group."""
        with suppress(OSError):
            if self.pid is not None and os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, signal.SIGKILL)
        self.send("KILL")

    def kill_after(self, seconds: float, reactor: Any) -> None:
        """It has so long to end by itself."""
        if self._kill is None:
            self._kill = reactor.callLater(seconds, self.kill)

    @property
    def ended(self) -> Ended:
        """How it ended, as the job's row tells it; `pending` means that it has to be done again."""
        if self.failure is not None:
            return Ended(self.claimed.id, "failed", reason=self.failure)
        if self.exit_code == 0:
            return Ended(self.claimed.id, "finished", exit_code=0)
        if self.is_stopping:
            return Ended(self.claimed.id, "pending", reason="its node was stopped")
        reason = self._last_words.removeprefix("pricewatch: ") or None
        return Ended(self.claimed.id, "failed", self.exit_code, self.exit_signal, reason)
