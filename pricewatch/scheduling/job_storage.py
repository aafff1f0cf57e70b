"""scrapyd's job storage: records how jobs ended, for the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from scrapyd.config import Config
from scrapyd.interfaces import IJobStorage
from zope.interface import implementer

from pricewatch import clock
from pricewatch.scheduling.job_process import JobProcess
from pricewatch.scheduling.membership import membership
from pricewatch.store.queues import job_leases, job_lists
from pricewatch.store.queues.job_lists import ListedJob

PROCESS_GONE = "its process is gone"


class StoredJob:
    """A job with the attributes that scrapyd's own pages read; times are local, as scrapyd shows them."""

    def __init__(self, job: ListedJob) -> None:
        self.project = job.project
        self.spider = job.spider
        self.job = job.job_id
        self.pid = job.pid
        self.start_time = local_time(job.started_at or job.added_at)
        self.end_time = local_time(job.ended_at) if job.ended_at else None
        self.listed = job
        self.args: list[str] = []
        self.env: dict[str, str] = {}


@implementer(IJobStorage)
class PostgresJobStorage:
    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        self.finished_to_keep = config.getint("finished_to_keep", 100)

    def add(self, job: JobProcess) -> bool:
        """Record how a job ended, or put it back into the queue; False if another node has it now."""
        ended, place = job.ended, self._membership.place
        with self._membership.begin() as connection:
            if ended.state == "pending":
                is_owner = job_leases.release(connection, place, ended.id, ended.reason or "")
            else:
                is_owner = job_leases.record_result(connection, place, ended)
            if is_owner:
                failed = ended.state == "failed" and not job.cancels
                job_leases.close_runs(connection, job.job, clock.now(), why=PROCESS_GONE, failed=failed)
            return is_owner

    def list(self) -> list[StoredJob]:
        return list(self)

    def __len__(self) -> int:
        with self._membership.begin() as connection:
            return job_lists.counts(connection, self._membership.lease).ended

    def __iter__(self) -> Iterator[StoredJob]:
        """The latest `finished_to_keep` jobs; listjobs.json pages through the rest."""
        with self._membership.begin() as connection:
            jobs = job_lists.ended(connection, most=self.finished_to_keep)
        yield from map(StoredJob, jobs)

    def running(self) -> Iterator[StoredJob]:
        """The jobs that run on any node."""
        with self._membership.begin() as connection:
            jobs = job_lists.running(connection)
        yield from map(StoredJob, jobs)


def local_time(moment: datetime) -> datetime:
    """A naive time in this machine's zone, as scrapyd writes times."""
    return moment.astimezone().replace(tzinfo=None)


def local_text(moment: datetime | None) -> str | None:
    return None if moment is None else str(local_time(moment))


def extra_fields(job: ListedJob) -> dict[str, Any]:
    """Fields of a job that scrapyd itself does not report."""
    return {
        "state": job.state,
        "node": job.node,
        "version": job.version,
        "attempts": job.attempts,
        "exit_code": job.exit_code,
        "exit_signal": job.exit_signal,
        "reason": job.reason,
    }
