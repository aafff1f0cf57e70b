"""The heartbeat of a node: every few seconds it saves and renews its jobs. Runs on a thread."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

import psutil  # type: ignore[import-untyped]
from twisted.logger import Logger

from pricewatch import clock
from pricewatch.scheduling.job_process import JobProcess
from pricewatch.scheduling.job_storage import PostgresJobStorage
from pricewatch.scheduling.membership import Membership
from pricewatch.store.queues import job_leases, node_rows
from pricewatch.store.queues.job_leases import LostJob, Orphan, RenewedJob

log = Logger()
# Seconds that an orphaned process may take to end, at most.
MAX_ORPHAN_TIMEOUT = 10.0


@dataclass(slots=True)
class HeartbeatReply:
    """The result of one exchange: jobs whose end was saved, renewed leases, jobs taken from lost nodes."""

    saved: set[int] = field(default_factory=set)
    renewed: dict[int, RenewedJob] = field(default_factory=dict)
    returned: list[LostJob] = field(default_factory=list)


class NodeHeartbeat:
    """Renews the leases of this node's jobs, and puts the jobs of lost nodes back into the queue."""

    def __init__(
        self, membership: Membership, storage: PostgresJobStorage, slots: int, orphan_timeout: float
    ) -> None:
        self.membership = membership
        self.storage = storage
        self.slots = slots
        self.orphan_timeout = min(orphan_timeout, MAX_ORPHAN_TIMEOUT)
        self._joined = False
        self._connected_since: float | None = None

    def exchange(self, ids: Collection[int], ended: Collection[JobProcess]) -> HeartbeatReply:
        """Save ended jobs and renew running ones; raises if the database is unavailable."""
        reply, place = HeartbeatReply(), self.membership.place
        try:
            if not self._joined:
                reply.returned += self._join()
            for process in ended:
                if not self.storage.add(process):
                    log.warn("Job {job} ended here after another node took it over", job=process.job)
                reply.saved.add(process.claimed.id)
            with self.membership.begin() as connection:
                reply.renewed = job_leases.renew(connection, place, ids)
                if not node_rows.record_heartbeat(connection, place):
                    log.error(
                        "Another daemon uses the name {node}: set PRICEWATCH_NODE to another name",
                        node=place.node,
                    )
            if self._can_detect_lost_nodes():
                reply.returned += self._return_lost()
        except Exception:
            self._connected_since = None
            raise
        return reply

    def note_pid(self, process: JobProcess) -> None:
        if process.pid is not None:
            with self.membership.begin() as connection:
                job_leases.record_pid(connection, self.membership.place, process.claimed.id, process.pid)

    def leave(self) -> None:
        with self.membership.begin() as connection:
            node_rows.mark_stopped(connection, self.membership.place)

    def _can_detect_lost_nodes(self) -> bool:
        """Wait one lease after an outage: other nodes may have lost the database at the same time."""
        now = time.monotonic()
        if self._connected_since is None:
            self._connected_since = now
        return now - self._connected_since > self.membership.lease.total_seconds()

    def _return_lost(self) -> list[LostJob]:
        with self.membership.begin() as connection:
            return job_leases.requeue_lost(connection, clock.now(), silence=self.membership.lease)

    def _join(self) -> list[LostJob]:
        """Register this node; queue again the jobs of an earlier instance of this daemon."""
        place = self.membership.place
        with self.membership.begin() as connection:
            node_rows.register(connection, place, url=self.membership.url, pid=os.getpid(), slots=self.slots)
            orphans = job_leases.find_orphans(connection, place)
        # Processes on another machine with the same name cannot be checked; their leases expire instead.
        local = [orphan for orphan in orphans if self.membership.is_on_this_host(orphan.instance)]
        end_orphans(local, self.orphan_timeout)
        with self.membership.begin() as connection:
            returned = job_leases.requeue_orphans(connection, [orphan.id for orphan in local], clock.now())
        self._joined = True
        return returned


def end_orphans(orphans: Collection[Orphan], timeout: float) -> None:
    """End spiders whose daemon is gone, because nothing would record how they end."""
    processes = [process for orphan in orphans if (process := process_of(orphan)) is not None]
    for process in processes:
        log.warn("Ending orphaned process {pid} of an earlier daemon", pid=process.pid)
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=timeout)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=timeout)


def process_of(orphan: Orphan) -> psutil.Process | None:
    """The process of a job, unless another process has its PID by now."""
    if orphan.pid is None:
        return None
    try:
        process = psutil.Process(orphan.pid)
        return process if f"_job={orphan.job_id}" in process.cmdline() else None
    except psutil.Error:
        return None
