"""The root resource of the daemon: scrapyd's API and console, and the web UI for every other path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from scrapyd.config import Config
from scrapyd.website import Root
from sqlalchemy.exc import SQLAlchemyError
from twisted.internet import reactor as _reactor
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import Request
from twisted.web.util import DeferredResource, Redirect

from pricewatch import clock
from pricewatch.scheduling.console import ConsoleHome, ConsoleJobs, DownloadedFiles, PlainFiles
from pricewatch.scheduling.membership import LOOPBACK, membership, store_engine
from pricewatch.scheduling.service_access import needed_role
from pricewatch.scheduling.service_forms import check_form
from pricewatch.vocabulary import AccessRole
from pricewatch.web import twisted_site
from pricewatch.web.auth import Auth, AuthResult, missing_role
from pricewatch.web.configuration import Configuration
from pricewatch.web.hosts import host_name, is_same_origin
from pricewatch.web.server.checked_request import CheckedRequest
from pricewatch.web.server.request_limits import RequestLimits

log = Logger()

reactor: Any = _reactor
SAFE_METHODS = (b"GET", b"HEAD", b"OPTIONS")


class ClusterRoot(Root):
    """The web UI and scrapyd's API share one login. scrapyd's console is at /scrapyd/."""

    def __init__(self, config: Config, app: Any) -> None:
        super().__init__(config, app)
        self.membership = membership(config)
        self.node_name = self.membership.place.node
        self.allowed_hosts = frozenset(config.get("allowed_hosts", "").lower().split()) | set(LOOPBACK)
        login = Configuration.from_environment(
            username=config.get("login_username", ""),
            password=config.get("login_password", ""),
            limits=RequestLimits.from_config(config),
            allowed_hosts=self.allowed_hosts,
        )
        self.auth = Auth(login, store_engine())
        self.is_open = login.is_open and self.membership.address in LOOPBACK
        self.putChild(b"jobs", ConsoleJobs(self))
        console = Resource()
        console.putChild(b"", ConsoleHome(self))
        console.putChild(b"jobs", ConsoleJobs(self))
        self.putChild(b"scrapyd", console)
        if self.logs_dir:
            self.putChild(b"logs", PlainFiles(self.logs_dir))
        if self.local_items:
            self.putChild(b"items", DownloadedFiles(self.items_dir))
        self.site = twisted_site.resource(reactor, login)
        del self.children[b""]

    def getChildWithDefault(self, path: bytes, request: CheckedRequest) -> Resource:  # noqa: N802 - twisted's name
        if (reason := self.refusal(request)) is not None:
            return AccessRefused(reason)
        child: Resource = super().getChildWithDefault(path, request)
        if child is self.site:
            return child
        # Not on the thread: the request has no connection any more once the client has left.
        request.address = request.client_address()
        checked = deferToThread(self.check, request, needed_role(path))
        checked.addCallbacks(self.child_if_allowed, self.check_failed, (child, request))
        return DeferredResource(checked)

    def check(self, request: CheckedRequest, needed: AccessRole) -> AuthResult:
        """Check the login and the role, then read the form of a request that changes something."""
        result = self.auth.check_request(
            request.method.decode("latin-1"), request.header_values(), request.address, clock.now()
        )
        if result.status == http.OK and not result.may(needed):
            return replace(result, status=http.FORBIDDEN, reason=missing_role(result, needed))
        is_change = result.status == http.OK and request.method not in SAFE_METHODS
        return check_form(request, result) if is_change else result

    def check_failed(self, failure: Failure) -> Resource:
        failure.trap(SQLAlchemyError)
        log.warn("A login could not be checked: {error}", error=failure.getErrorMessage())
        return AccessRefused("The database does not answer.", http.SERVICE_UNAVAILABLE)

    def child_if_allowed(self, result: AuthResult, child: Resource, request: CheckedRequest) -> Resource:
        request.auth_result = result
        if result.status == http.OK:
            return child
        if result.status == http.UNAUTHORIZED and result.is_browser and request.method in SAFE_METHODS:
            return Redirect(f"/login?next={quote(request.path.decode('latin-1'))}".encode())
        return AccessRefused(result.reason, result.status, result.retry_after)

    def getChild(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        return self.site

    def refusal(self, request: CheckedRequest) -> str | None:
        """Why a request is refused: cross-site requests and DNS rebinding; None if it is fine."""
        headers = request.header_values()
        name = host_name(headers.get("host", "")) or ""
        if self.is_open and name not in self.allowed_hosts:
            return f"The host name {name[:100]} is not allowed: add it to allowed_hosts in scrapyd.conf."
        if request.method not in SAFE_METHODS and not is_same_origin(headers):
            return "Requests from pages of other sites are refused."
        return None


class AccessRefused(Resource):
    isLeaf = True  # noqa: N815 - twisted's name

    def __init__(self, reason: str, status: int = http.FORBIDDEN, retry_after: float = 0.0) -> None:
        super().__init__()
        self.reason = reason
        self.status = status
        self.retry_after = retry_after

    def render(self, request: Request) -> bytes:
        request.setResponseCode(self.status)
        request.setHeader("Content-Type", "text/plain; charset=utf-8")
        if self.status == http.UNAUTHORIZED:
            request.setHeader("WWW-Authenticate", 'Basic realm="pricewatch"')
        if self.retry_after:
            request.setHeader("Retry-After", f"{max(self.retry_after, 1):.0f}")
        return f"{self.reason}\n".encode()
