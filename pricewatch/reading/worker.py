"""The program of a reader process: `python -m pricewatch.reading.worker MEGABYTES`.

It reads one page after another for the process at the other end of its standard input, and ends with it, or
after some time without a page. The system ends it if a page takes too long, even inside a library in C.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import traceback
from pathlib import Path

from pricewatch import adapters
from pricewatch.reading import messages
from pricewatch.reading.deadline import CLOCK_FACTOR
from pricewatch.reading.page_task import prepare_task

IDLE_SECONDS = 120.0
READY = b"{}"
MAX_OPEN_FILES = 64
# Above this, a process ends after its page, because freed memory does not return to the system.
LARGE_MEGABYTES = 256
# Libxml2 does not say when it has no memory left: a result is trusted only if this share was not exceeded.
TRUSTED_SHARE = 0.75
NO_MEMORY = b'{"type": "MemoryError"}'
MAX_TRACEBACK = 4000


def limit_resources(megabytes: int) -> None:
    size = megabytes * 1024 * 1024
    for kind, limit in (
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
    ):
        highest = resource.getrlimit(kind)[1]
        lowest = limit if highest == resource.RLIM_INFINITY else min(limit, highest)
        resource.setrlimit(kind, (lowest, lowest))


def answer(header: bytes, body: bytes) -> bytes:
    """Read a page, and return the message with its result."""
    task = json.loads(header)
    try:
        # Imports are not part of the time for the page.
        read = prepare_task(task["call"], task["parameters"])
        _set_timers(task["seconds"])
        return messages.encode_result(read(body))
    except MemoryError:
        return NO_MEMORY
    except Exception as error:  # noqa: BLE001 - an adapter is per-site code and may fail in any way
        message = {"type": "error", "error": f"{type(error).__name__}: {error}"[:MAX_TRACEBACK]}
        return json.dumps({**message, "traceback": traceback.format_exc()[-MAX_TRACEBACK:]}).encode()
    finally:
        _set_timers(0)


def _set_timers(seconds: float) -> None:
    """Let the system end this process after so much processor time, or a multiple of it on the clock."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, CLOCK_FACTOR * seconds)


def peak_megabytes() -> int:
    """Return the largest size of the address space so far; 0 if the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(status.partition("VmPeak:")[2].split()[0]) // 1024


def main(megabytes: int) -> None:
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    # An interrupt on the terminal is for the process at the other end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_resources(megabytes)
    with socket.socket(fileno=os.dup(0)) as connection:
        # Most pages need it, and its imports take as long as several pages.
        adapters.get("generic")
        messages.send(connection, READY)
        peak = 0
        while peak < LARGE_MEGABYTES:
            connection.settimeout(IDLE_SECONDS)
            try:
                task = messages.receive(connection)
            except (EOFError, OSError):
                # The other process has ended, or needs no reader at present.
                return
            found, peak = answer(*task), peak_megabytes()
            if found == NO_MEMORY or peak > TRUSTED_SHARE * megabytes:
                found, peak = NO_MEMORY, LARGE_MEGABYTES
            try:
                messages.send(connection, found)
            except OSError:
                return


if __name__ == "__main__":
    main(int(sys.argv[1]))
