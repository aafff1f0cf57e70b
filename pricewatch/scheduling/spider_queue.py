"""scrapyd's spider queue: a view of the pending jobs of one project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapyd.config import Config
from scrapyd.interfaces import ISpiderQueue
from zope.interface import implementer

from pricewatch.scheduling.membership import membership
from pricewatch.store.queues import job_lists, job_queue
from pricewatch.store.queues.job_lists import ListedJob
from pricewatch.store.queues.job_queue import ClaimedJob

Message = dict[str, Any]


@implementer(ISpiderQueue)
class PostgresSpiderQueue:
    def __init__(self, config: Config, project: str) -> None:
        self.project = project
        self._membership = membership(config)

    def add(self, name: str, priority: float = 0.0, **spider_args: Any) -> None:
        arguments = dict(spider_args)
        job_id, version = arguments.pop("_job", None), arguments.pop("_version", None)
        settings = arguments.pop("settings", {})
        with self._membership.begin() as connection:
            job_queue.add(
                connection,
                self.project,
                name,
                arguments,
                job_id=job_id,
                version=version,
                settings=settings,
                priority=priority,
            )

    def pop(self) -> Message | None:
        """Claim the next job of this project for this node; the poller claims across projects."""
        with self._membership.begin() as connection:
            job = job_queue.claim(connection, self._membership.place, [self.project])
        return message_of(job) if job else None

    def list(self) -> list[Message]:
        with self._membership.begin() as connection:
            return [message_of(job) for job in job_lists.pending(connection, self.project)]

    def count(self) -> int:
        with self._membership.begin() as connection:
            return job_lists.count_pending(connection, self.project)

    def remove(self, func: Callable[[Message], bool]) -> int:
        with self._membership.begin() as connection:
            pending = job_lists.pending(connection, self.project)
            matching = [job.id for job in pending if func(message_of(job))]
            return job_lists.cancel_pending(connection, self.project, matching) if matching else 0

    def clear(self) -> None:
        with self._membership.begin() as connection:
            job_lists.cancel_pending(connection, self.project)


def message_of(job: ListedJob | ClaimedJob) -> Message:
    """A job in the form that scrapyd's components use."""
    version = {"_version": job.version} if job.version else {}
    return {
        "name": job.spider,
        "_job": job.job_id,
        **version,
        "settings": dict(job.settings),
        **job.arguments,
    }
