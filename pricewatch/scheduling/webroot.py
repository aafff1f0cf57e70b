"""The root resource of the daemon: scrapyd's API and console, and the web UI for every other path."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import quote, urlsplit

from scrapyd.config import Config
from scrapyd.website import Home, Jobs, Root
from twisted.internet import reactor as _reactor
from twisted.internet.threads import deferToThread
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request
from twisted.web.util import DeferredResource, Redirect

from pricewatch import clock
from pricewatch.scheduling.membership import LOOPBACK, membership, store_engine
from pricewatch.web import twisted_site
from pricewatch.web.auth import Auth, AuthResult
from pricewatch.web.configuration import Configuration

reactor: Any = _reactor
SAFE_METHODS = (b"GET", b"HEAD", b"OPTIONS")


class ClusterRoot(Root):
    """The web UI and scrapyd's API share one login. scrapyd's console is at /scrapyd/."""

    def __init__(self, config: Config, app: Any) -> None:
        super().__init__(config, app)
        self.membership = membership(config)
        self.node_name = self.membership.place.node
        self.allowed_hosts = set(config.get("allowed_hosts", "").split()) | set(LOOPBACK)
        login = Configuration.from_environment(
            username=config.get("login_username", ""), password=config.get("login_password", "")
        )
        self.auth = Auth(login, store_engine())
        self.is_open = login.is_open and self.membership.address in LOOPBACK
        self.putChild(b"jobs", ThreadedJobs(self))
        console = Resource()
        console.putChild(b"", Home(self))
        console.putChild(b"jobs", ThreadedJobs(self))
        self.putChild(b"scrapyd", console)
        self.site = twisted_site.resource(reactor, login)
        del self.children[b""]

    def getChildWithDefault(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        if (reason := self.refusal(request)) is not None:
            return AccessRefused(reason)
        child: Resource = super().getChildWithDefault(path, request)
        if child is self.site or self.auth.configuration.is_open:
            return child
        headers = {
            name.decode("latin-1").lower(): values[-1].decode("latin-1")
            for name, values in request.requestHeaders.getAllRawHeaders()
        }
        address = str(request.getClientAddress().host)
        checked = deferToThread(
            self.auth.check_request, request.method.decode("latin-1"), headers, address, clock.now()
        )
        return DeferredResource(checked.addCallback(self.child_if_allowed, child, request))

    def child_if_allowed(self, result: AuthResult, child: Resource, request: Request) -> Resource:
        if result.status == http.OK:
            return child
        if result.status == http.UNAUTHORIZED and result.is_browser and request.method in SAFE_METHODS:
            return Redirect(f"/login?next={quote(request.path.decode('latin-1'))}".encode())
        return AccessRefused(result.reason, result.status)

    def getChild(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        # The site expects the whole path, as if it were the root.
        cast("list[bytes]", request.postpath).insert(0, cast("list[bytes]", request.prepath).pop())
        return self.site

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused: cross-site requests and DNS rebinding; None if it is fine."""
        host = request.getHeader("host") or ""
        name = urlsplit(f"//{host}").hostname or ""
        if self.is_open and name not in self.allowed_hosts:
            return f"The host name {name[:100]} is not allowed: add it to allowed_hosts in scrapyd.conf."
        origin = request.getHeader("origin")
        if request.method not in SAFE_METHODS and origin and urlsplit(origin).netloc != host:
            return "Requests from pages of other sites are refused."
        return None


class ThreadedJobs(Jobs):
    """scrapyd's list of jobs, for the whole cluster; queries the database on a thread."""

    def render_GET(self, txrequest: Request) -> int:  # noqa: N802 - twisted's name
        def send(content: bytes) -> None:
            txrequest.write(content)
            txrequest.finish()

        def fail(_: Any) -> None:
            txrequest.setResponseCode(http.SERVICE_UNAVAILABLE)
            send(b"The database does not answer.\n")

        disconnected = txrequest.notifyFinish()
        rendered = deferToThread(super().render_GET, txrequest)
        rendered.addCallbacks(send, fail)
        disconnected.addErrback(lambda _: rendered.cancel())
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


class AccessRefused(Resource):
    isLeaf = True  # noqa: N815 - twisted's name

    def __init__(self, reason: str, status: int = http.FORBIDDEN) -> None:
        super().__init__()
        self.reason = reason
        self.status = status

    def render(self, request: Request) -> bytes:
        request.setResponseCode(self.status)
        request.setHeader("Content-Type", "text/plain; charset=utf-8")
        if self.status == http.UNAUTHORIZED:
            request.setHeader("WWW-Authenticate", 'Basic realm="pricewatch"')
        return f"{self.reason}\n".encode()
