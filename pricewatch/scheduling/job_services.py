"""scrapyd's web services for jobs: the same requests and responses, for the whole cluster."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, cast

from scrapyd.webservice import param
from twisted.internet import reactor as _reactor
from twisted.web.server import Request

from pricewatch.redaction import holds_secret
from pricewatch.rules.access.job_settings import PLAIN_SETTINGS, refused_setting
from pricewatch.scheduling.job_process import signal_number
from pricewatch.scheduling.job_storage import StoredJob, extra_fields, local_text
from pricewatch.scheduling.membership import Membership
from pricewatch.scheduling.scrapyd_services import ThreadedService, request_error
from pricewatch.scheduling.service_access import record_change
from pricewatch.store.queues import job_leases, job_lists, job_queue, node_rows
from pricewatch.store.queues.job_lists import ListedJob
from pricewatch.web.server.checked_request import CheckedRequest

reactor: Any = _reactor
DEFAULT_LIMIT = 100
MAX_LIMIT = 10_000
# The log file is named after the job, and file names have at most 255 bytes.
MAX_JOB_ID_BYTES = 200
MAX_AUDITED = 200
MAX_AUDITED_VALUES = 50
# The largest bigint.
MAX_OFFSET = 2**63 - 1
# Names with a meaning of their own in the queue, in scrapyd or in scrapy.
RESERVED_ARGUMENTS = ("self", "name", "spider_name", "project", "settings", "_job", "_project", "_spider")


class Schedule(ThreadedService):
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
        arguments = {key.decode(): values[0].decode() for key, values in txrequest.args.items()}
        if reserved := [name for name in RESERVED_ARGUMENTS if name in arguments]:
            raise request_error(f"{reserved[0]!r} is reserved: choose another name for the spider argument")
        if "/" in jobid or len(jobid.encode()) > MAX_JOB_ID_BYTES:
            raise request_error(
                f"jobid is the name of a log file: it must not contain '/' or exceed {MAX_JOB_ID_BYTES} bytes"
            )
        if not math.isfinite(priority):
            raise request_error(f"priority {priority} is not a finite number")
        if malformed := [pair for pair in setting if "=" not in pair]:
            raise request_error(f"setting {malformed[0]!r} is not NAME=VALUE")
        settings = dict(pair.split("=", 1) for pair in setting)
        given = {**arguments, **settings}
        if exposed := [name for name, value in given.items() if holds_secret(name, value)]:
            raise request_error(
                f"{exposed[0]!r} holds credentials, and arguments and settings of jobs are stored and "
                "logged: set credentials in the environment of the daemon"
            )
        role = cast("CheckedRequest", txrequest).auth_result.role
        refused = refused_setting(role, settings)
        if refused is not None:
            raise request_error(
                f"the setting {refused[:60]!r} needs the role admin; the role {role} may give a number or a "
                f"word to: {', '.join(sorted(PLAIN_SETTINGS))}"
            )
        # One transaction for both queries: a second one would double the time.
        with self.root.membership.begin() as connection:
            if spider not in self.spiders(project, version, connection):
                raise request_error(f"spider '{spider}' not found")
            jobid = job_queue.add(
                connection,
                project,
                spider,
                arguments,
                job_id=jobid,
                version=version,
                settings=settings,
                priority=priority,
            )
            record_change(
                connection,
                txrequest,
                "job scheduled",
                jobid,
                project=project,
                spider=spider,
                version=version,
                arguments=_shortened(arguments),
                settings=_shortened(settings),
            )
        # Poll now rather than at the next poll interval.
        reactor.callFromThread(self.root.poller.poll)
        return {"jobid": jobid}


def _shortened(values: Mapping[str, str]) -> dict[str, str]:
    """The beginning of what a job was given, for the audit log; the row of the job has all of it."""
    return {name[:60]: value[:MAX_AUDITED] for name, value in list(values.items())[:MAX_AUDITED_VALUES]}


class Cancel(ThreadedService):
    """Cancels a job on any node: that node reads the request from the database within seconds."""

    @param("project")
    @param("job")
    @param("signal", required=False, default="INT")
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, job: str, signal: str
    ) -> dict[str, Any]:
        self.check_project(project)
        if signal_number(signal) is None:
            raise request_error(f"signal '{signal}' is unknown")
        with self.root.membership.begin() as connection:
            before = job_leases.cancel(connection, project, job, signal.upper().removeprefix("SIG"))
            record_change(
                connection, txrequest, "job cancelled", job, project=project, signal=signal, state=before
            )
        reactor.callFromThread(self.root.launcher.check_now)
        return {"prevstate": before}


class Status(ThreadedService):
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
        return {"currstate": "finished" if found.ended_at else found.state, **extra_fields(found)}


class ListJobs(ThreadedService):
    """`limit` is the number of finished jobs, the latest first; `offset` skips that many of them."""

    @param("project", required=False)
    @param("limit", required=False, default=DEFAULT_LIMIT, type=int)
    @param("offset", required=False, default=0, type=int)
    def render_GET(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str | None, limit: int, offset: int
    ) -> dict[str, Any]:
        if project is not None:
            self.check_project(project)
        most, skipped = min(max(limit, 0), MAX_LIMIT), min(max(offset, 0), MAX_OFFSET)
        with self.root.membership.snapshot() as connection:
            # Clients expect all pending and running jobs; the limit only bounds the size of the response.
            pending = job_lists.pending(connection, project, most=MAX_LIMIT)
            running = job_lists.running(connection, project)
            ended = job_lists.ended(connection, project, most=most, skipped=skipped)
        return {
            "pending": [self._pending(job) for job in pending],
            "running": [self._started(job) | {"pid": job.pid} for job in running],
            "finished": [self._started(job) | {"end_time": local_text(job.ended_at)} for job in ended],
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
            "added": local_text(job.added_at),
        }

    def _started(self, job: ListedJob) -> dict[str, Any]:
        return {
            "id": job.job_id,
            "project": job.project,
            "spider": job.spider,
            "start_time": local_text(job.started_at),
            "log_url": self._url(job, self.root.get_log_url(StoredJob(job))),
            "items_url": self._url(job, self.root.get_item_url(StoredJob(job))),
            **extra_fields(job),
        }

    def _url(self, job: ListedJob, local_url: str | None) -> str | None:
        """The URL on this node if the file is here, else on the node that wrote it if that has a URL."""
        membership: Membership = self.root.membership
        if local_url is not None or job.node in (None, membership.place.node) or job.node_url is None:
            return local_url
        return f"{job.node_url}/logs/{job.project}/{job.spider}/{job.job_id}.log"


class DaemonStatus(ThreadedService):
    def render_GET(self, txrequest: Request) -> dict[str, Any]:  # noqa: N802 - twisted's name
        membership: Membership = self.root.membership
        with membership.begin() as connection:
            counts = job_lists.counts(connection, membership.lease)
            nodes = node_rows.find_nodes(connection)
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
                    "last_seen": local_text(node.heartbeat_at),
                    "stopped": node.stopped_at is not None,
                }
                for node in nodes
            ],
        }
