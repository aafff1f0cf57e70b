"""scrapyd's console: its start page, the jobs and the log files, in templates that escape everything."""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from scrapyd.website import Home, Jobs
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure
from twisted.python.filepath import FilePath
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request
from twisted.web.static import File

from pricewatch.scheduling.job_storage import StoredJob
from pricewatch.web.auth import form_token
from pricewatch.web.templating import environment

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
# Several ranges could ask for the same bytes thousands of times.
_ONE_RANGE = re.compile(rb"bytes=(\d{1,18}-\d{0,18}|-\d{1,18})")
_MAX_LISTED = 10_000
NOT_STARTED = dict.fromkeys(("process", "start", "runtime", "end", "log_url", "items_url"), "")


def page(request: Request, template: str, **values: Any) -> bytes:
    content = environment().get_template(template).render(values).encode()
    request.setHeader("Content-Type", "text/html; charset=utf-8")
    request.setHeader("Content-Length", str(len(content)))
    return content


def base_path(request: Request, root: Any) -> str:
    """The prefix that a proxy adds to all paths; empty if the header is not a path."""
    prefix = (request.requestHeaders.getRawHeaders(root.prefix_header.encode()) or [b""])[-1]
    text = prefix.decode("latin-1").rstrip("/")
    return text if _PREFIX.fullmatch(text) else ""


class ConsoleHome(Home):
    def render_GET(self, txrequest: Request) -> bytes:  # noqa: N802 - twisted's name
        return page(
            txrequest,
            "scrapyd_home.html",
            base=base_path(txrequest, self.root),
            has_items=bool(self.root.local_items),
            projects=sorted(self.root.scheduler.list_projects()),
        )


class ConsoleJobs(Jobs):
    """The jobs of the whole cluster; queries the database on a thread."""

    def render_GET(self, txrequest: Any) -> int:  # noqa: N802 - twisted's name
        def send(content: bytes) -> None:
            txrequest.write(content)
            txrequest.finish()

        def fail(_: Failure) -> None:
            txrequest.setResponseCode(http.SERVICE_UNAVAILABLE)
            send(b"The database does not answer.\n")

        disconnected = txrequest.notifyFinish()
        token = form_token(session_of(txrequest))
        may_cancel = txrequest.auth_result.may("operate")
        rendered = deferToThread(
            lambda: page(txrequest, "scrapyd_jobs.html", **self.values(txrequest, token, may_cancel))
        )
        rendered.addCallbacks(send, fail)
        disconnected.addErrback(lambda _: rendered.cancel())
        return NOT_DONE_YET

    def values(self, request: Request, token: str, may_cancel: bool) -> dict[str, Any]:
        pending = [
            {**NOT_STARTED, "project": project, "spider": message["name"], "job": message["_job"]}
            for project, queue in self.root.poller.queues.items()
            for message in queue.list()
        ]
        storage = self.root.launcher.finished
        return {
            "base": base_path(request, self.root),
            "token": token,
            "pending": pending,
            "running": [self.row(job) for job in storage.running()],
            "finished": [self.row(job) for job in storage],
            "has_items": bool(self.root.local_items),
            "can_cancel": b"cancel.json" in self.root.children and may_cancel,
        }

    def row(self, job: StoredJob) -> dict[str, Any]:
        end = job.end_time
        return {
            "project": job.project,
            "spider": job.spider,
            "job": job.job,
            "process": f"{job.pid or ''} {job.listed.node or ''}",
            "start": _seconds(job.start_time),
            "runtime": str(timedelta(seconds=int((end - job.start_time).total_seconds()))) if end else "",
            "end": _seconds(end) if end else "",
            "log_url": quote(self.root.get_log_url(job) or ""),
            "items_url": quote(self.root.get_item_url(job) or ""),
        }


def session_of(request: Any) -> str:
    """The session, from which the form token is derived; sets a cookie if there is none."""
    session: str = request.auth_result.session
    if not session:
        session = secrets.token_urlsafe(32)
        auth = request.site.auth
        is_secure = auth.configuration.secure_cookies
        request.addCookie(auth.cookie, session, path="/", httpOnly=True, sameSite="lax", secure=is_secure)
    return session


def _seconds(moment: datetime) -> str:
    return str(moment.replace(microsecond=0))


class PlainFiles(File):
    """Files as plain text, whatever their names and contents: logs contain text of crawled pages."""

    contentTypes: dict[str, str] = {}  # noqa: N815, RUF012 - twisted's name
    contentEncodings: dict[str, str] = {}  # noqa: N815, RUF012 - twisted's name
    indexNames: list[str] = []  # noqa: N815, RUF012 - twisted's name

    def __init__(self, path: str, *_: Any) -> None:
        super().__init__(path, "text/plain; charset=utf-8")

    def getChild(self, path: bytes, request: Request) -> Resource:  # noqa: N802 - twisted's name
        if b"\x00" in path or not _is_text(path):
            return self.childNotFound
        child: Resource = super().getChild(path, request)
        return child

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - twisted's name
        ranges = request.requestHeaders.getRawHeaders(b"range", [])
        if ranges and not _ONE_RANGE.fullmatch(ranges[-1]):
            request.requestHeaders.removeHeader(b"range")
        return super().render_GET(request)

    def directoryListing(self) -> Resource:  # noqa: N802 - twisted's name
        return Directory(self)


class DownloadedFiles(PlainFiles):
    """Files that browsers save and do not show."""

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - twisted's name
        request.setHeader("Content-Disposition", "attachment")
        return super().render_GET(request)


class Directory(Resource):
    isLeaf = True  # noqa: N815 - twisted's name

    def __init__(self, directory: File) -> None:
        super().__init__()
        self._directory = directory

    def render_GET(self, request: Request) -> bytes:  # noqa: N802 - twisted's name
        names = self._directory.listNames()[:_MAX_LISTED]
        rows = [row for name in names if (row := _listed(FilePath(self._directory.path).child(name)))]
        rows.sort(key=lambda row: (not row["is_directory"], row["name"]))
        return page(request, "scrapyd_files.html", name=self._directory.basename(), rows=rows)


def _listed(child: Any) -> dict[str, Any] | None:
    """A row of the listing; None if the file was removed meanwhile or has no readable name."""
    try:
        modified = datetime.fromtimestamp(child.getModificationTime())  # noqa: DTZ006 - scrapyd's times are local
        name, is_directory = child.basename(), child.isdir()
        return {
            "name": name,
            "url": quote(name) + ("/" if is_directory else ""),
            "is_directory": is_directory,
            "size": "" if is_directory else child.getsize(),
            "modified": _seconds(modified),
        }
    except (OSError, UnicodeError):
        return None


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True
