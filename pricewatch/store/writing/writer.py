"""The database thread of a run, which writes what the crawl produces without blocking the event loop.

A unit of work is a page of cards or one offer. Units that are queued together share a transaction. The queue
is bounded: when the database is slow, producers wait, and so the crawl slows down.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.writing.batch import MAX_RACE_RETRIES, BatchWriter, Write, WriteUnit, is_outage, reason
from pricewatch.store.writing.commit_tracker import CommitTracker
from pricewatch.store.writing.incoming_rows import ConcurrentInsert

logger = logging.getLogger(__name__)
T = TypeVar("T")
LONGEST_PAUSE = 10.0
_Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]


@dataclass(slots=True)
class _Call:
    function: Callable[[Connection], Any]
    result: Any = None
    stored: bool = False


@dataclass(slots=True)
class _End:
    pass


@dataclass(slots=True)
class _Job:
    work: WriteUnit | _Call | _End
    done: asyncio.Future[Any]


class Writer:
    """Accept units on the event loop and write them in a separate thread with its own connection."""

    def __init__(
        self,
        engine: Engine,
        *,
        max_rows: int = 500,
        max_wait_ms: int = 200,
        max_pending: int = 64,
        retry_seconds: float = 120.0,
        heartbeat_seconds: float = 10.0,
    ):
        # The steps of every transaction; run with an empty batch when nothing was written for a while.
        self.writes: Sequence[Write] = []
        self.market_id: str | None = None
        # Called on the event loop: a unit was stored, a unit was refused, or the database stayed unavailable.
        self.on_stored: Callable[[WriteUnit], None] | None = None
        self.on_refused: Callable[[WriteUnit, BaseException], None] | None = None
        self.on_failure: Callable[[DatabaseUnavailable], None] | None = None
        self._commits = CommitTracker(engine)
        self._max_rows = max_rows
        self._max_wait = max_wait_ms / 1000
        self._retry_seconds = retry_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        # Ends the wait for more rows: when a caller waits for a unit, or when there are enough rows.
        self._write_now = threading.Event()
        self._rows_queued = self._rows_taken = 0
        self._next_job: _Job | None = None
        self._slots = asyncio.Semaphore(max_pending)
        self._failure: DatabaseUnavailable | None = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="pricewatch-writer", daemon=True)
        self._thread.start()

    @property
    def run_id(self) -> int:
        """The run whose row is used to check commits; 0 before there is one."""
        return self._commits.run_id

    @run_id.setter
    def run_id(self, run_id: int) -> None:
        self._commits.run_id = run_id

    async def write(self, unit: WriteUnit) -> None:
        """Queue a unit. Wait for space in the queue, and for the commit if `unit.waits` is set."""
        if self._slots.locked():
            self._write_now.set()
        await self._slots.acquire()
        done = self._put(unit)
        done.add_done_callback(lambda _: self._slots.release())
        done.add_done_callback(lambda ended: self._report_unit(unit, ended))
        if unit.waits:
            await done

    async def call(self, function: Callable[[Connection], T]) -> T:
        """Run a function in a separate transaction, after everything queued so far."""
        result: T = await self._put(_Call(function))
        return result

    async def flush(self) -> None:
        """Wait until everything queued so far has been written and reported."""
        await self._put(_Call(lambda _: None))

    async def close(self) -> None:
        """Write the rest of the queue and stop the thread."""
        if self._thread.is_alive():
            await self._put(_End())
            await asyncio.to_thread(self._thread.join)

    def _report_unit(self, unit: WriteUnit, done: asyncio.Future[Any]) -> None:
        # Reading the exception also prevents asyncio from logging it as never retrieved.
        error = None if done.cancelled() else done.exception()
        if unit.stored:
            if self.on_stored:
                self.on_stored(unit)
        elif error is not None and not isinstance(error, DatabaseUnavailable) and self.on_refused:
            self.on_refused(unit, error)

    def _put(self, work: WriteUnit | _Call | _End) -> asyncio.Future[Any]:
        done: asyncio.Future[Any] = self._loop.create_future()
        if self._failure and not isinstance(work, _End):
            done.set_exception(self._failure)
        else:
            self._queue.put(_Job(work, done))
            if isinstance(work, WriteUnit):
                self._rows_queued += len(work.rows)
            is_awaited = not isinstance(work, WriteUnit) or work.waits
            if is_awaited or self._rows_queued - self._rows_taken >= self._max_rows:
                self._write_now.set()
        return done

    # The methods below run in the thread.

    def _run(self) -> None:
        while True:
            job = self._take_job()
            if isinstance(job.work, _End):
                self._commits.disconnect()
                self._set_outcomes([(job.done, None, None)])
                return
            jobs = [job, *self._take_more(job.work)] if isinstance(job.work, WriteUnit) else [job]
            failure: Exception | None = None
            try:
                if self._failure:
                    raise self._failure
                self._persist(jobs)
            except Exception as error:  # noqa: BLE001 - set on the futures of the jobs
                failure = error
                if isinstance(error, DatabaseUnavailable) and not self._failure:
                    self._failure = error
                    if self.on_failure:
                        self._loop.call_soon_threadsafe(self.on_failure, error)
            self._report_jobs(jobs, failure)

    def _take_job(self) -> _Job:
        if self._next_job:
            job, self._next_job = self._next_job, None
            return job
        while True:
            try:
                return self._queue.get(timeout=self._heartbeat_seconds)
            except queue.Empty:
                self._heartbeat()

    def _take_more(self, first: WriteUnit) -> list[_Job]:
        """Return more units for the same transaction: those in the queue, or added while waiting."""
        if not first.waits:
            self._write_now.wait(self._max_wait)
        self._write_now.clear()
        more: list[_Job] = []
        keys = _keys(first)
        rows = len(first.rows)
        while rows < self._max_rows:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            # Two observations of the same listing need two transactions.
            if not isinstance(job.work, WriteUnit) or not keys.isdisjoint(_keys(job.work)):
                self._next_job = job
                break
            more.append(job)
            keys |= _keys(job.work)
            rows += len(job.work.rows)
        self._rows_taken += rows
        if self._next_job or not self._queue.empty():
            # The remaining units have waited already.
            self._write_now.set()
        return more

    def _persist(self, jobs: list[_Job]) -> None:
        """Write the jobs; retry with growing pauses, up to a limit, while the database is unavailable."""
        started, pause = time.monotonic(), 0.2
        while True:
            try:
                self._write_jobs(self._commits.connect(), jobs)
            except DBAPIError as error:
                if not is_outage(error):
                    raise
                self._commits.disconnect()
                if time.monotonic() - started + pause > self._retry_seconds:
                    raise DatabaseUnavailable(
                        f"The database was unavailable for {self._retry_seconds:.0f} seconds "
                        f"({reason(error)}): the run ends, and the next one continues from what is stored."
                    ) from error
                logger.warning("The database is unavailable (%s); retrying in %.1f s", reason(error), pause)
                time.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                return

    def _write_jobs(self, connection: Connection, jobs: list[_Job]) -> None:
        if isinstance(jobs[0].work, _Call):
            self._run_call(connection, jobs[0].work)
        else:
            units = [job.work for job in jobs if isinstance(job.work, WriteUnit)]
            self._batches.store(connection, units)

    @property
    def _batches(self) -> BatchWriter:
        return BatchWriter(self.writes, self.run_id, self.market_id, self._commits.transaction)

    def _run_call(self, connection: Connection, call: _Call) -> None:
        races = 0
        while not call.stored:
            try:
                with self._commits.transaction(connection, [call]):
                    call.result = call.function(connection)
            except ConcurrentInsert:
                races += 1
                if races > MAX_RACE_RETRIES:
                    raise

    def _heartbeat(self) -> None:
        if not self.writes or self._failure:
            return
        try:
            with self._commits.transaction(connection := self._commits.connect(), []):
                self._batches.write(connection, [])
        except DBAPIError as error:
            self._commits.disconnect()
            logger.warning("The heartbeat was not written: %s", reason(error))

    def _report_jobs(self, jobs: list[_Job], failure: Exception | None) -> None:
        outcomes: list[_Outcome] = []
        for job in jobs:
            work = job.work
            if isinstance(work, WriteUnit):
                outcomes.append((job.done, None, None if work.stored else work.error or failure))
            elif isinstance(work, _Call):
                outcomes.append((job.done, work.result, None if work.stored else failure))
        self._set_outcomes(outcomes)

    def _set_outcomes(self, outcomes: list[_Outcome]) -> None:
        """Set the outcomes of a batch in one callback, so that the event loop wakes up once."""

        def set_futures() -> None:
            for done, result, error in outcomes:
                if done.done():
                    continue
                if error is None:
                    done.set_result(result)
                else:
                    done.set_exception(error)

        self._loop.call_soon_threadsafe(set_futures)


def _keys(unit: WriteUnit) -> set[tuple[str, str]]:
    return {(row["source_id"], row[key]) for row in unit.rows for key in ("identity_key", "canonical_url")}
