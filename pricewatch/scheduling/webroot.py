"""What the daemon answers: scrapyd's API and console, and the web UI for everything else."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast
from urllib.parse import urlsplit

from scrapyd.config import Config
from scrapyd.website import Home, Jobs, Root
from twisted.internet import reactor as _reactor
from twisted.internet.threads import deferToThread
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from pricewatch.scheduling.membership import LOOPBACK, membership

reactor: Any = _reactor
UI = "pricewatch.web.site"
SAFE_METHODS = (b"GET", b"HEAD", b"OPTIONS")


class ClusterRoot(Root):
    """The console is at /scrapyd/ always, and at / while there is no UI."""

    def __init__(self, config: Config, app: Any) -> None:
        super().__init__(config, app)
        self.membership = membership(config)
        self.node_name = self.membership.place.node
        self.allowed_hosts = set(config.get("allowed_hosts", "").split()) | set(LOOPBACK)
        self.is_open = not config.get("username", "") and self.membership.address in LOOPBACK
        self.putChild(b"jobs", ThreadedJobs(self))
        console = Resource()
        console.putChild(b"", Home(self))
        console.putChild(b"jobs", ThreadedJobs(self))
        self.putChild(b"scrapyd", console)
        self.site = load_site()
        if self.site is not None:
            del self.children[b""]

    def getChildWithDefault(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        if (complaint := self.complaint(request)) is not None:
            return Refusal(complaint)
        found: Resource = super().getChildWithDefault(path, request)
        return found

    def getChild(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        if self.site is None:
            missing: Resource = super().getChild(path, request)
            return missing
        # As if this root were not there.
        cast("list[bytes]", request.postpath).insert(0, cast("list[bytes]", request.prepath).pop())
        return self.site

    def complaint(self, request: Request) -> str | None:
        """A page of another site that uses somebody's browser to reach this daemon is turned away."""
        host = request.getHeader("host") or ""
        name = urlsplit(f"//{host}").hostname or ""
        if self.is_open and name not in self.allowed_hosts:
            return f"This daemon is not known as {name[:100]}: add the name to allowed_hosts in scrapyd.conf."
        origin = request.getHeader("origin")
        if request.method not in SAFE_METHODS and origin and urlsplit(origin).netloc != host:
            return "Requests from pages of other sites are refused."
        return None


class ThreadedJobs(Jobs):
    """scrapyd's list of jobs, of the whole cluster; asks the database on a thread."""

    def render_GET(self, txrequest: Request) -> int:  # noqa: N802 - twisted's name
        def send(content: bytes) -> None:
            txrequest.write(content)
            txrequest.finish()

        def fail(_: Any) -> None:
            txrequest.setResponseCode(http.SERVICE_UNAVAILABLE)
            send(b"The database does not answer.\n")

        gone = txrequest.notifyFinish()
        asked = deferToThread(super().render_GET, txrequest)
        asked.addCallbacks(send, fail)
        gone.addErrback(lambda _: asked.cancel())
        return NOT_DONE_YET

    def prepare_running(self) -> str:
        return "\n".join(
            self.prepare_row(
                {
                    "Project": job.project,
                    "Spider": job.spider,
                    "Job": job.job,
                    "PID": f"{job.pid or ''} {job.listed.node}",
                    "Start": job.start_time.replace(microsecond=0),
                    "Log": self.html_log_url(job),
                    "Items": self.html_item_url(job),
                    "Cancel": self.cancel_button(job.project, job.job),
                }
            )
            for job in self.root.launcher.finished.running()
        )


class Refusal(Resource):
    isLeaf = True  # noqa: N815 - twisted's name

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def render(self, request: Request) -> bytes:
        request.setResponseCode(http.FORBIDDEN)
        request.setHeader("Content-Type", "text/plain; charset=utf-8")
        return f"{self.reason}\n".encode()


def load_site() -> Resource | None:
    """The web UI as a resource, if this installation has one."""
    try:
        there = find_spec(UI) is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        return None
    site: Resource = import_module(UI).resource(reactor)
    return site
