"""scrapyd's poller: claims a job for each free slot, across projects. It survives every error."""

from __future__ import annotations

from typing import Any

from scrapyd.config import Config
from scrapyd.interfaces import IPoller
from scrapyd.utils import get_spider_queues
from sqlalchemy.exc import SQLAlchemyError
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, DeferredQueue, succeed
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from pricewatch.scheduling.membership import membership
from pricewatch.scheduling.outage import Outage
from pricewatch.scheduling.spider_queue import PostgresSpiderQueue, message_of
from pricewatch.store.queues import deployed_eggs, job_leases, job_queue
from pricewatch.store.queues.job_queue import ClaimedJob

reactor: Any = _reactor
log = Logger()
CLAIMED = "_claimed"


@implementer(IPoller)
class ClusterPoller:
    def __init__(self, config: Config) -> None:
        self.config = config
        self._membership = membership(config)
        self._outage = Outage("Claiming jobs")
        self._polling = False
        self._stopped = False
        self.dq: DeferredQueue[dict[str, Any]] = DeferredQueue()
        self.queues: dict[str, PostgresSpiderQueue] = {}
        self.update_projects()

    def next(self) -> Deferred[dict[str, Any]]:
        """Return the next job for a free slot, as soon as there is one."""
        if not self._stopped:
            reactor.callLater(0, self.poll)
        return self.dq.get()

    def poll(self) -> Deferred[None]:
        """Called every `poll_interval`, and whenever a slot becomes free."""
        if self._polling or self._stopped or not self.dq.waiting:
            return succeed(None)
        self._polling = True
        claimed: Deferred[Any] = deferToThread(self._claim, len(self.dq.waiting))
        claimed.addCallback(self._distribute)
        return claimed.addErrback(self._outage.record_failure).addBoth(self._finish_poll)

    def stop(self) -> None:
        """Claim no more jobs; jobs that are being claimed now go back into the queue."""
        self._stopped = True

    def update_projects(self) -> None:
        self.queues = get_spider_queues(self.config)

    def _claim(self, most: int) -> list[ClaimedJob]:
        claimed: list[ClaimedJob] = []
        with self._membership.begin() as connection:
            projects = [
                *deployed_eggs.projects(connection),
                *(name for name, _ in self.config.items("settings", [])),
            ]
        try:
            while len(claimed) < most:
                # One transaction for each job: two nodes that lock several could deadlock.
                with self._membership.begin() as connection:
                    job = job_queue.claim(connection, self._membership.place, projects)
                if job is None:
                    break
                claimed.append(job)
        except SQLAlchemyError:
            if not claimed:
                raise
        return claimed

    def _distribute(self, claimed: list[ClaimedJob]) -> None:
        self._outage.record_success()
        for job in claimed:
            if self._stopped:
                deferToThread(self._release, job).addErrback(self._outage.record_failure)
            else:
                message = {**message_of(job), "_project": job.project, CLAIMED: job}
                message["_spider"] = message.pop("name")
                self.dq.put(message)

    def _release(self, job: ClaimedJob) -> None:
        with self._membership.begin() as connection:
            job_leases.release(connection, self._membership.place, job.id, "its node was stopped")

    def _finish_poll(self, result: Failure | None) -> None:
        self._polling = False
        if isinstance(result, Failure):
            log.failure("Cannot distribute the claimed jobs", failure=result)
