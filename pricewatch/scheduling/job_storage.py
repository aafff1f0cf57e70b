"""scrapyd's job storage: how jobs ended, of the whole cluster, for as long as they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from scrapyd.config import Config
from scrapyd.interfaces import IJobStorage
from zope.interface import implementer

from pricewatch import clock
from pricewatch.scheduling.membership import membership
from pricewatch.scheduling.process import JobProcess
from pricewatch.store.queues import job_leases, job_lists, job_runs
from pricewatch.store.queues.job_lists import ListedJob

WHY_LEFT = "its process is gone"


class StoredJob:
    """A job with the attributes that scrapyd's own pages read; times are local, as it shows them."""

    def __init__(self, job: ListedJob) -> None:
        self.project = job.project
        self.spider = job.spider
        self.job = job.job_id
        self.pid = job.pid
        self.start_time = local(job.started_at or job.added_at)
        self.end_time = local(job.ended_at) if job.ended_at else None
        self.listed = job
        self.args: list[str] = []
        self.env: dict[str, str] = {}


@implementer(IJobStorage)
class PostgresJobStorage:
    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        self.finished_to_keep = config.getint("finished_to_keep", 100)

    def add(self, job: JobProcess) -> bool:
        """Record how a job ended, or give it back; False where it has become somebody else's."""
        ended, place = job.ended, self._membership.place
        with self._membership.begin() as connection:
            if ended.state == "pending":
                is_ours = job_leases.give_back(connection, place, ended.id, ended.reason or "")
            else:
                is_ours = job_leases.end(connection, place, ended)
            if is_ours:
                failed = ended.state == "failed" and not job.cancels
                job_runs.close_left(connection, job.job, clock.now(), why=WHY_LEFT, failed=failed)
            return is_ours

    def list(self) -> list[StoredJob]:
        return list(self)

    def __len__(self) -> int:
        with self._membership.begin() as connection:
            return job_lists.counts(connection, self._membership.lease).ended

    def __iter__(self) -> Iterator[StoredJob]:
        """The latest ones: the rest is listed page by page."""
        with self._membership.begin() as connection:
            jobs = job_lists.ended(connection, most=self.finished_to_keep)
        yield from map(StoredJob, jobs)

    def running(self) -> Iterator[StoredJob]:
        """What runs on any node."""
        with self._membership.begin() as connection:
            jobs = job_lists.running(connection)
        yield from map(StoredJob, jobs)


def local(moment: datetime) -> datetime:
    """As scrapyd writes times: of this machine's zone, without saying so."""
    return moment.astimezone().replace(tzinfo=None)


def shown(moment: datetime | None) -> str | None:
    return None if moment is None else str(local(moment))


def extras(job: ListedJob) -> dict[str, Any]:
    """What we tell of a job beyond scrapyd's own fields."""
    return {
        "state": job.state,
        "node": job.node,
        "version": job.version,
        "attempts": job.attempts,
        "exit_code": job.exit_code,
        "exit_signal": job.exit_signal,
        "reason": job.reason,
    }
