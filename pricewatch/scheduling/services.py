"""scrapyd's web services, answered on threads: neither the database nor `scrapy list` stops the daemon."""

from __future__ import annotations

import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from scrapyd import webservice
from scrapyd.webservice import WsResource, param
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web import error, http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from pricewatch.errors import UserError
from pricewatch.scheduling.command_line import CannotList, list_spiders

log = Logger()


def refused(message: str) -> error.Error:
    """As scrapyd tells what is wrong with a request: in the answer, with status 200."""
    return error.Error(code=http.OK, message=message.encode())


class InWords(Resource):
    """Says in a sentence what went wrong with the database or with what was asked for."""

    def render(self, request: Request) -> Any:
        try:
            return super().render(request)
        except UserError as problem:
            raise refused(str(problem)) from None
        except SQLAlchemyError as problem:
            lines = str(getattr(problem, "orig", problem)).strip().splitlines()
            raise refused(f"The database does not answer ({lines[0] if lines else problem}).") from problem


class Threaded(WsResource, InWords):
    """Base of all: the request is answered when a thread has the answer."""

    def render(self, txrequest: Request) -> int:
        gone: list[bool] = []
        txrequest.notifyFinish().addErrback(lambda _: gone.append(True))

        def send(content: bytes) -> None:
            if not gone:
                # Pages of other sites have no business here.
                txrequest.responseHeaders.removeHeader("Access-Control-Allow-Origin")
                txrequest.write(content)
                txrequest.finish()

        def fail(failure: Failure) -> None:
            log.failure("Answering a request", failure=failure)
            if not gone:
                txrequest.setResponseCode(http.INTERNAL_SERVER_ERROR)
                txrequest.finish()

        deferToThread(super().render, txrequest).addCallback(send).addErrback(fail)
        return NOT_DONE_YET

    def check_project(self, project: str) -> None:
        """It may have been deployed to another node a moment ago."""
        if project not in self.root.poller.queues:
            self.root.update_projects()
        if project not in self.root.poller.queues:
            raise refused(f"project '{project}' not found")

    def spiders(self, project: str, version: str | None, connection: Connection | None = None) -> list[str]:
        """The spiders of a version, or of what the next job would run."""
        found = self.root.eggstorage.fetch(project, version, connection)
        if version and found is None:
            raise refused(f"version '{version}' not found")
        return SpiderLists.get(self.root, project, found[1] if found else None)


class SpiderLists:
    """What `scrapy list` said about each egg, so that it is asked once."""

    known: ClassVar[dict[tuple[str, Path | None], list[str]]] = {}

    @classmethod
    def get(cls, root: Any, project: str, egg: Path | None) -> list[str]:
        if (project, egg) not in cls.known:
            try:
                spiders = list_spiders(root.runner, project, egg, root.launcher.settings)
            except CannotList as problem:
                raise refused(f"The spiders of {project} cannot be listed: {problem}") from None
            cls.known[project, egg] = spiders
        return cls.known[project, egg]


class ListProjects(Threaded, webservice.ListProjects):
    pass


class ListVersions(Threaded, webservice.ListVersions):
    pass


class DeleteProject(Threaded, webservice.DeleteProject):
    pass


class DeleteVersion(Threaded, webservice.DeleteVersion):
    pass


class ListSpiders(Threaded):
    @param("project")
    @param("_version", dest="version", required=False, default=None)
    def render_GET(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, version: str | None
    ) -> dict[str, Any]:
        self.check_project(project)
        return {"spiders": self.spiders(project, version)}


class AddVersion(Threaded):
    """An egg whose spiders cannot be listed is refused before any node can run it."""

    @param("project")
    @param("version")
    @param("egg", type=bytes)
    def render_POST(  # noqa: N802 - twisted's name
        self, txrequest: Request, project: str, version: str, egg: bytes
    ) -> dict[str, Any]:
        if not zipfile.is_zipfile(BytesIO(egg)):
            raise refused("egg is not a ZIP file (if using curl, use egg=@path not egg=path)")
        with tempfile.TemporaryDirectory(prefix="pricewatch-") as directory:
            trial = Path(directory) / "trial.egg"
            trial.write_bytes(egg)
            try:
                spiders = list_spiders(self.root.runner, project, trial, {})
            except CannotList as problem:
                raise refused(f"This egg cannot be used, and nothing was deployed: {problem}") from None
        self.root.eggstorage.put(BytesIO(egg), project, version)
        self.root.update_projects()
        return {"project": project, "version": version, "spiders": len(spiders)}
