"""What a node tells the database every few seconds, and what it learns from it. Runs on a thread."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

import psutil  # type: ignore[import-untyped]
from twisted.logger import Logger

from pricewatch import clock
from pricewatch.scheduling.job_storage import PostgresJobStorage
from pricewatch.scheduling.membership import Membership
from pricewatch.scheduling.process import JobProcess
from pricewatch.store.queues import job_leases, node_rows
from pricewatch.store.queues.job_leases import LostJob, Orphan, Renewed

log = Logger()
MOST_PATIENCE = 10.0


@dataclass(slots=True)
class News:
    """What came of one exchange."""

    saved: set[int] = field(default_factory=set)
    renewed: dict[int, Renewed] = field(default_factory=dict)
    returned: list[LostJob] = field(default_factory=list)


class NodeHeartbeat:
    """Keeps the leases of this node's jobs, and looks after those of nodes that are gone."""

    def __init__(
        self, membership: Membership, storage: PostgresJobStorage, slots: int, patience: float
    ) -> None:
        self.membership = membership
        self.storage = storage
        self.slots = slots
        self.patience = min(patience, MOST_PATIENCE)
        self._joined = False
        self._in_contact_since: float | None = None

    def exchange(self, ids: Collection[int], ended: Collection[JobProcess]) -> News:
        """Save what has ended, renew what runs; raises where the database is away."""
        news, place = News(), self.membership.place
        try:
            if not self._joined:
                news.returned += self._join()
            for process in ended:
                if not self.storage.add(process):
                    log.warn("Job {job} ended here, but was somebody else's by then", job=process.job)
                news.saved.add(process.claimed.id)
            with self.membership.begin() as connection:
                news.renewed = job_leases.beat(connection, place, ids)
                if not node_rows.beat(connection, place):
                    log.error(
                        "Another daemon goes by the name {node}: set PRICEWATCH_NODE to another one",
                        node=place.node,
                    )
            if self._may_judge_others():
                news.returned += self._return_lost()
        except Exception:
            self._in_contact_since = None
            raise
        return news

    def note_pid(self, process: JobProcess) -> None:
        if process.pid is not None:
            with self.membership.begin() as connection:
                job_leases.started(connection, self.membership.place, process.claimed.id, process.pid)

    def leave(self) -> None:
        with self.membership.begin() as connection:
            node_rows.leave(connection, self.membership.place)

    def _may_judge_others(self) -> bool:
        """Who was cut off cannot tell whether the others were silent: all may have been cut off alike."""
        now = time.monotonic()
        if self._in_contact_since is None:
            self._in_contact_since = now
        return now - self._in_contact_since > self.membership.lease.total_seconds()

    def _return_lost(self) -> list[LostJob]:
        with self.membership.begin() as connection:
            return job_leases.return_lost(connection, clock.now(), silence=self.membership.lease)

    def _join(self) -> list[LostJob]:
        """Enter the list of nodes; jobs that an earlier start of this daemon left behind are run anew."""
        place = self.membership.place
        with self.membership.begin() as connection:
            node_rows.join(connection, place, url=self.membership.url, pid=os.getpid(), slots=self.slots)
            orphans = job_leases.orphans(connection, place)
        # Of another machine with the same name we know nothing: its leases run out if it is gone.
        ours = [orphan for orphan in orphans if self.membership.is_here(orphan.instance)]
        end_orphans(ours, self.patience)
        with self.membership.begin() as connection:
            returned = job_leases.return_orphans(connection, [orphan.id for orphan in ours], clock.now())
        self._joined = True
        return returned


def end_orphans(orphans: Collection[Orphan], patience: float) -> None:
    """Spiders whose daemon is gone: nobody would ever learn how they end."""
    left = [process for orphan in orphans if (process := process_of(orphan)) is not None]
    for process in left:
        log.warn("Ending process {pid}, left by an earlier daemon", pid=process.pid)
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(left, timeout=patience)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=patience)


def process_of(orphan: Orphan) -> psutil.Process | None:
    """The process of a job, unless its number is somebody else's by now."""
    if orphan.pid is None:
        return None
    try:
        process = psutil.Process(orphan.pid)
        return process if f"_job={orphan.job_id}" in process.cmdline() else None
    except psutil.Error:
        return None
