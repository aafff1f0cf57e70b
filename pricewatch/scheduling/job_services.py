"""scrapyd's web services about jobs: the same requests and answers, for the whole cluster."""

from __future__ import annotations

import math
import os
from typing import Any

from scrapyd.webservice import param
from twisted.internet import reactor as _reactor
from twisted.web.server import Request

from pricewatch.scheduling.job_storage import StoredJob, extras, shown
from pricewatch.scheduling.membership import Membership
from pricewatch.scheduling.process import signal_number
from pricewatch.scheduling.services import Threaded, refused
from pricewatch.store.queues import job_leases, job_lists, job_queue, node_rows
from pricewatch.store.queues.job_lists import ListedJob

reactor: Any = _reactor
LISTED = 100
MOST_LISTED = 10_000
# With what follows it, the longest name of a file.
MOST_JOB_ID = 200
# What the database takes as a number.
MOST_SKIPPED = 2**63 - 1
# What the queue, the scheduler and scrapy give their own meaning to.
TAKEN = ("self", "name", "spider_name", "project", "settings", "_job", "_project", "_spider")


class Schedule(Threaded):
    @param("project")
    @param("spider")
    @param("_version", dest="version", required=False, default=None)
    @param("jobid", required=False, default=job_queue.new_job_id)
    @param("priority", required=False, default=0, type=float)
    @param("setting", required=False, default=list, multiple=True)
    def render_POST(  # noqa: N802 - twisted's name
        self,
        txrequest: Request,
        project: str,
        spider: str,
        version: str | None,
        jobid: str,
        priority: float,
        setting: list[str],
    ) -> dict[str, Any]:
        self.check_project(project)
        given = {key.decode(): values[0].decode() for key, values in txrequest.args.items()}
        if taken := [name for name in TAKEN if name in given]:
            raise refused(f"no spider can have an argument {taken[0]!r}: scrapyd's own parts use that name")
        if "/" in jobid or len(jobid.encode()) > MOST_JOB_ID:
            raise refused(f"jobid is the name of a log: no '/', and at most {MOST_JOB_ID} bytes")
        if not math.isfinite(priority):
            raise refused(f"priority {priority} is no number to sort by")
        if unclear := [one for one in setting if "=" not in one]:
            raise refused(f"setting {unclear[0]!r} is not NAME=VALUE")
        # One transaction for both questions: each of its own would take as long again.
        with self.root.membership.begin() as connection:
            if spider not in self.spiders(project, version, connection):
                raise refused(f"spider '{spider}' not found")
            job_queue.add(
                connection,
                project,
                spider,
                given,
                job_id=jobid,
                version=version,
                settings=dict(one.split("=", 1) for one in setting),
                priority=priority,
            )
        # This node need not wait for its next look at the queue.
        reactor.callFromThread(self.root.poller.poll)
        return {"jobid": jobid}


class Cancel(Threaded):
    """Wherever the job is: its node learns of it from the database, within seconds."""

    @param("project")
    @param("job")
    @param("signal", required=False, default="INT")
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, job: str, signal: str
    ) -> dict[str, Any]:
        self.check_project(project)
        if signal_number(signal) is None:
            raise refused(f"signal '{signal}' is unknown")
        with self.root.membership.begin() as connection:
            before = job_leases.cancel(connection, project, job, signal.upper().removeprefix("SIG"))
        reactor.callFromThread(self.root.launcher.look)
        return {"prevstate": before}


class Status(Threaded):
    @param("job")
    @param("project", required=False)
    def render_GET(  # noqa: N802 - twisted's name
        self, txrequest: Request, job: str, project: str | None
    ) -> dict[str, Any]:
        if project is not None:
            self.check_project(project)
        with self.root.membership.begin() as connection:
            found = job_lists.find(connection, job, project)
        if found is None:
            return {"currstate": None}
        return {"currstate": "finished" if found.ended_at else found.state, **extras(found)}


class ListJobs(Threaded):
    """The latest of what has ended, as many as `limit` says; `offset` leads to the earlier ones."""

    @param("project", required=False)
    @param("limit", required=False, default=LISTED, type=int)
    @param("offset", required=False, default=0, type=int)
    def render_GET(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str | None, limit: int, offset: int
    ) -> dict[str, Any]:
        if project is not None:
            self.check_project(project)
        most, skipped = min(max(limit, 0), MOST_LISTED), min(max(offset, 0), MOST_SKIPPED)
        with self.root.membership.snapshot() as connection:
            # What waits or runs is all there, as clients count on it, up to a size that can be read.
            pending = job_lists.pending(connection, project, most=MOST_LISTED)
            running = job_lists.running(connection, project)
            ended = job_lists.ended(connection, project, most=most, skipped=skipped)
        return {
            "pending": [self._pending(job) for job in pending],
            "running": [self._started(job) | {"pid": job.pid} for job in running],
            "finished": [self._started(job) | {"end_time": shown(job.ended_at)} for job in ended],
        }

    def _pending(self, job: ListedJob) -> dict[str, Any]:
        return {
            "id": job.job_id,
            "project": job.project,
            "spider": job.spider,
            "version": job.version,
            "settings": job.settings,
            "args": job.arguments,
            "priority": job.priority,
            "added": shown(job.added_at),
        }

    def _started(self, job: ListedJob) -> dict[str, Any]:
        return {
            "id": job.job_id,
            "project": job.project,
            "spider": job.spider,
            "start_time": shown(job.started_at),
            "log_url": self._url(job, self.root.get_log_url(StoredJob(job))),
            "items_url": self._url(job, self.root.get_item_url(StoredJob(job))),
            **extras(job),
        }

    def _url(self, job: ListedJob, here: str | None) -> str | None:
        """On this node if the file is here; else on the node that wrote it, where that can be reached."""
        membership: Membership = self.root.membership
        if here is not None or job.node in (None, membership.place.node) or job.node_url is None:
            return here
        return f"{job.node_url}/logs/{job.project}/{job.spider}/{job.job_id}.log"


class DaemonStatus(Threaded):
    def render_GET(self, txrequest: Request) -> dict[str, Any]:  # noqa: N802 - twisted's name
        membership: Membership = self.root.membership
        with membership.begin() as connection:
            counts = job_lists.counts(connection, membership.lease)
            known = node_rows.listed(connection)
        return {
            "pending": counts.pending,
            "running": counts.running,
            "finished": counts.ended,
            "oldest_pending_seconds": counts.oldest_pending_seconds,
            "node": membership.place.node,
            "pid": os.getpid(),
            "nodes": [
                {
                    "name": node.name,
                    "url": node.url,
                    "slots": node.slots,
                    "running": node.running,
                    "last_seen": shown(node.heartbeat_at),
                    "stopped": node.stopped_at is not None,
                }
                for node in known
            ],
        }
