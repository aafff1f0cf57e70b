"""Read each page in a child process of its own, and measure its CPU time and memory.

A child has loaded everything and nothing else: its highest use of memory, less that before it reads, is what
the page cost, whatever was read before. A page that crashes, hangs or eats memory ends only its own child.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import cast

from pricewatch.reading.read_limits import ReadLimits
from tests.hostile.corpus import crawl_reading, process_reading
from tests.hostile.corpus.crawl_reading import PageResult
from tests.hostile.corpus.hostile_page import HostilePage

DEADLINE = ReadLimits().seconds
MAX_MEGABYTES = 200
# The system ends a reader process at the deadline, which does not include the imports of an adapter.
PROCESS_DEADLINE = DEADLINE + 3
MAX_STORED = 200_000
# The kernel ends a child after this many CPU seconds, and refuses it more memory.
KILL_SECONDS = 60
KILL_MEGABYTES = 3_000
# A page over a limit is measured again: on a busy machine, CPU time is longer than on an idle one.
ROUNDS = 3


@dataclass(slots=True)
class Measurement:
    page: HostilePage
    result: PageResult = field(default_factory=PageResult)
    megabytes: float = 0.0
    error: str = ""

    @property
    def slowest_step(self) -> str:
        return max(self.result.seconds, key=self.result.seconds.__getitem__, default="")

    @property
    def seconds(self) -> float:
        """The CPU seconds of the longest reading."""
        return max(self.result.seconds.values(), default=0.0)

    def is_in_process(self, step: str) -> bool:
        """Whether a crawl or the daemon reads it in a process that it ends at the deadline."""
        return self.result.needs_process or step in self.result.process_steps

    def slow_process_steps(self) -> list[str]:
        return [
            step
            for step, seconds in self.result.seconds.items()
            if seconds > DEADLINE and self.is_in_process(step)
        ]

    @property
    def outcome(self) -> str:
        if self.error:
            return "error"
        return "READ_TIMEOUT" if self.seconds > DEADLINE else self.result.outcome

    def broken_rules(self) -> list[str]:
        found = [self.error] if self.error else []
        for step, seconds in self.result.seconds.items():
            deadline = PROCESS_DEADLINE if self.is_in_process(step) else DEADLINE
            if seconds > deadline:
                found.append(f"{step} took {seconds:.1f} s of CPU time, over {deadline:.0f} s")
        if self.megabytes > MAX_MEGABYTES:
            found.append(f"used {self.megabytes:.0f} MB, over {MAX_MEGABYTES} MB")
        if self.result.stored > MAX_STORED:
            found.append(f"{self.result.stored:,} characters to store, over {MAX_STORED:,}")
        shows = " or ".join(sorted(self.page.shows)) or "no price"
        found.extend(
            f"{reader} accepted {price}, the page shows {shows}"
            for reader, price in self.result.accepted
            if price not in self.page.shows
        )
        return found


def measure(pages: Iterable[HostilePage], workers: int) -> Iterator[Measurement]:
    """Measure pages in `workers` processes at a time; the results come in the order in which they are done."""
    # Warnings of the middlewares about each odd page are of no use here.
    logging.disable()
    try:
        crawl_reading.prepare()
        yield from _measure(pages, workers)
    finally:
        logging.disable(logging.NOTSET)


def _measure(pages: Iterable[HostilePage], workers: int) -> Iterator[Measurement]:
    pending = ((page, 1) for page in pages)
    again: list[tuple[HostilePage, int]] = []
    running: dict[Connection, tuple[ForkProcess, HostilePage, int]] = {}
    best: dict[str, Measurement] = {}
    while True:
        while len(running) < workers and (task := again.pop() if again else next(pending, None)):
            process, connection = _start(task[0])
            running[connection] = (process, *task)
        if not running:
            return
        for connection in cast("list[Connection]", wait(list(running))):
            process, page, number = running.pop(connection)
            measured = _finish(process, connection, page)
            for step in measured.slow_process_steps():
                measured.result.seconds[step] = process_reading.cpu_seconds(page, step)
            measured = min(best.pop(page.label, measured), measured, key=lambda one: len(one.broken_rules()))
            is_unsure = DEADLINE < measured.seconds < 2 * DEADLINE
            if is_unsure and measured.broken_rules() and not measured.error and number < ROUNDS:
                best[page.label] = measured
                again.append((page, number + 1))
            else:
                yield measured


def _start(page: HostilePage) -> tuple[ForkProcess, Connection]:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(page, sender), daemon=True)
    process.start()
    sender.close()
    return process, receiver


def _finish(process: ForkProcess, connection: Connection, page: HostilePage) -> Measurement:
    try:
        measured: Measurement = connection.recv()
    except EOFError:
        process.join()
        measured = Measurement(page, error=f"the process ended with status {process.exitcode}")
    connection.close()
    process.join()
    return measured


def _child(page: HostilePage, sender: Connection) -> None:
    # Only readers are measured; the garbage of the parent is not collected here.
    resource.setrlimit(resource.RLIMIT_CPU, (KILL_SECONDS, KILL_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (KILL_MEGABYTES << 20, KILL_MEGABYTES << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _end_reading)
    measured = Measurement(page)
    try:
        body = page.body()
        before = _megabytes("VmRSS")
        _reset_highest()
        measured.result = crawl_reading.read_page(page, body)
        measured.megabytes = max(0.0, _megabytes("VmHWM") - before)
    except BaseException as error:  # noqa: BLE001 - reported with its page
        last = traceback.extract_tb(error.__traceback__)[-1]
        measured.error = f"{type(error).__name__} in {last.name}, line {last.lineno}: {str(error)[:200]}"
    sender.send(measured)
    sender.close()
    os._exit(0)


def _end_reading(number: int, frame: object) -> None:
    raise TimeoutError(f"not read within {crawl_reading.HARD_DEADLINE:.0f} s of CPU time")


def _reset_highest() -> None:
    """Make the kernel forget how much memory building the page took."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _megabytes(name: str) -> float:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024
