"""scrapyd's web services on threads, so that neither the database nor `scrapy list` blocks the daemon."""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, cast

from scrapyd import webservice
from scrapyd.exceptions import EggNotFoundError, ProjectNotFoundError
from scrapyd.webservice import WsResource, param
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web import error, http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from pricewatch.errors import UserError
from pricewatch.scheduling.command_line import SpiderListError, list_spiders
from pricewatch.scheduling.service_access import record_change

log = Logger()
# The name of a directory as well.
PROJECT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
MAX_VERSION_LENGTH = 200


def request_error(message: str) -> error.Error:
    """An error in the style of scrapyd: the message is in the response, with status 200."""
    return error.Error(code=http.OK, message=message.encode())


def error_message(problem: Exception) -> str:
    if isinstance(problem, error.Error):
        return (problem.message or b"").decode(errors="replace")
    if isinstance(problem, error.UnsupportedMethod):
        allowed = [name.decode() for name in cast("Sequence[bytes]", problem.allowedMethods)]
        return f"method not allowed; use {', '.join(allowed)}"
    if isinstance(problem, SQLAlchemyError):
        lines = str(getattr(problem, "orig", problem)).strip().splitlines()
        return f"The database does not answer ({lines[0] if lines else problem})."
    return str(problem)


def check_encoding(parameters: Mapping[bytes, Sequence[bytes]]) -> None:
    """Refuse parameters that the database or a command line cannot store; only `egg` may be binary."""
    for name, values in parameters.items():
        for text in (name, *(values if name != b"egg" else ())):
            try:
                is_text = "\x00" not in text.decode()
            except UnicodeDecodeError:
                is_text = False
            if not is_text:
                printable = name.decode(errors="replace").replace("\x00", "")[:60]
                raise request_error(f"parameter {printable!r} must be UTF-8 text without NUL characters")


class ThreadedService(WsResource):
    """Base class of all services: runs on a thread and answers errors with a readable message."""

    def render(self, txrequest: Request) -> int:
        disconnected: list[bool] = []
        txrequest.notifyFinish().addErrback(lambda _: disconnected.append(True))

        def send(content: bytes) -> None:
            if not disconnected:
                txrequest.write(content)
                txrequest.finish()

        deferToThread(self.respond, txrequest).addCallback(send).addErrback(
            lambda failure: log.failure("Cannot send a response", failure=failure)
        )
        return NOT_DONE_YET

    def respond(self, request: Request) -> bytes:
        """Respond as scrapyd does, but log a refused request as information, not as an exception."""
        try:
            check_encoding(cast("dict[bytes, list[bytes]]", request.args))
            if request.method in (b"GET", b"HEAD") and not hasattr(self, "render_GET"):
                raise error.UnsupportedMethod((b"OPTIONS", b"POST"))
            data = Resource.render(self, request)
        except (error.Error, error.UnsupportedMethod, UserError, SQLAlchemyError) as problem:
            data = {"status": "error", "message": error_message(problem)}
            log.info("{path!r} refused: {why!r}", path=request.path, why=data["message"])
        except Exception:  # noqa: BLE001 - every error gets a response
            log.failure("A request failed")
            request.setResponseCode(http.INTERNAL_SERVER_ERROR)
            data = {"status": "error", "message": "Internal error; see the daemon's log."}
        if data is None:
            # The response to OPTIONS has headers only.
            return b""
        content = json.dumps({"status": "ok", **data, "node_name": self.root.node_name}).encode() + b"\n"
        request.setHeader("Content-Type", "application/json")
        request.setHeader("Content-Length", str(len(content)))
        return content

    def check_project(self, project: str) -> None:
        """Refuse an unknown project; reload first, as it may just have been deployed to another node."""
        if project not in self.root.poller.queues:
            self.root.update_projects()
        if project not in self.root.poller.queues:
            raise request_error(f"project '{project}' not found")

    def spiders(self, project: str, version: str | None, connection: Connection | None = None) -> list[str]:
        """The spiders of a version; without one, of the version that the next job would run."""
        found = self.root.eggstorage.fetch(project, version, connection)
        if version and found is None:
            raise request_error(f"version '{version}' not found")
        return SpiderLists.get(self.root, project, found[1] if found else None)


class SpiderLists:
    """A cache of the output of `scrapy list` for each egg."""

    cache: ClassVar[dict[tuple[str, Path | None], list[str]]] = {}

    @classmethod
    def get(cls, root: Any, project: str, egg: Path | None) -> list[str]:
        if (project, egg) not in cls.cache:
            try:
                spiders = list_spiders(root.runner, project, egg, root.launcher.settings)
            except SpiderListError as problem:
                raise request_error(f"The spiders of {project} cannot be listed: {problem}") from None
            cls.cache[project, egg] = spiders
        return cls.cache[project, egg]


class ListProjects(ThreadedService, webservice.ListProjects):
    pass


class ListVersions(ThreadedService, webservice.ListVersions):
    pass


class DeleteVersion(ThreadedService):
    @param("project")
    @param("version")
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, version: str
    ) -> dict[str, Any]:
        if not version:
            raise request_error("'version' must not be empty; use delproject.json to delete all versions")
        self.delete(txrequest, project, version)
        return {}

    def delete(self, request: Request, project: str, version: str | None) -> None:
        with self.root.membership.begin() as connection:
            try:
                self.root.eggstorage.delete(project, version, connection)
            except (EggNotFoundError, ProjectNotFoundError):
                missing = f"version '{version}'" if version else f"project '{project}'"
                raise request_error(f"{missing} not found") from None
            action = "version deleted" if version else "project deleted"
            record_change(connection, request, action, project, version=version)
        self.root.update_projects()


class DeleteProject(DeleteVersion):
    @param("project")
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str
    ) -> dict[str, Any]:
        self.delete(txrequest, project, None)
        return {}


class ListSpiders(ThreadedService):
    @param("project")
    @param("_version", dest="version", required=False, default=None)
    def render_GET(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, version: str | None
    ) -> dict[str, Any]:
        self.check_project(project)
        return {"spiders": self.spiders(project, version)}


class AddVersion(ThreadedService):
    """Refuses an egg whose spiders cannot be listed, before any node can run it."""

    @param("project")
    @param("version")
    @param("egg", type=bytes)
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, version: str, egg: bytes
    ) -> dict[str, Any]:
        if not PROJECT_NAME.fullmatch(project):
            raise request_error("a project name has 1 to 100 letters, digits, '.', '_' and '-'")
        if not 0 < len(version) <= MAX_VERSION_LENGTH:
            raise request_error(f"a version has 1 to {MAX_VERSION_LENGTH} characters")
        if not zipfile.is_zipfile(BytesIO(egg)):
            raise request_error("egg is not a ZIP file (if using curl, use egg=@path not egg=path)")
        # In a transaction of its own, because listing the spiders already runs code of the egg.
        with self.root.membership.begin() as connection:
            record_change(connection, txrequest, "version uploaded", project, version=version, bytes=len(egg))
        with tempfile.TemporaryDirectory(prefix="pricewatch-") as directory:
            path = Path(directory) / "uploaded.egg"
            path.write_bytes(egg)
            try:
                spiders = list_spiders(self.root.runner, project, path, {})
            except SpiderListError as problem:
                raise request_error(
                    f"the egg was not deployed, its spiders cannot be listed: {problem}"
                ) from None
        with self.root.membership.begin() as connection:
            self.root.eggstorage.put(BytesIO(egg), project, version, connection)
            record_change(
                connection, txrequest, "version deployed", project, version=version, spiders=len(spiders)
            )
        self.root.update_projects()
        signed = self.root.eggstorage.signer.has_key
        return {"project": project, "version": version, "spiders": len(spiders), "signed": signed}
