"""scrapyd's web services, answered on threads: neither the database nor `scrapy list` stops the daemon."""

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
from scrapyd.webservice import WsResource, param
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web import error, http
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from pricewatch.errors import UserError
from pricewatch.scheduling.command_line import CannotList, list_spiders

log = Logger()
# It becomes the name of a directory.
PROJECT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
MOST_VERSION = 200


def refused(message: str) -> error.Error:
    """As scrapyd tells what is wrong with a request: in the answer, with status 200."""
    return error.Error(code=http.OK, message=message.encode())


def in_words(problem: Exception) -> str:
    if isinstance(problem, error.Error):
        return (problem.message or b"").decode(errors="replace")
    if isinstance(problem, error.UnsupportedMethod):
        allowed = [name.decode() for name in cast("Sequence[bytes]", problem.allowedMethods)]
        return f"only {', '.join(allowed)} are understood here"
    if isinstance(problem, SQLAlchemyError):
        lines = str(getattr(problem, "orig", problem)).strip().splitlines()
        return f"The database does not answer ({lines[0] if lines else problem})."
    return str(problem)


def check_texts(given: Mapping[bytes, Sequence[bytes]]) -> None:
    """Neither the database nor a command line takes a NUL; only an egg is anything but text."""
    for name, values in given.items():
        for text in (name, *(values if name != b"egg" else ())):
            try:
                is_text = "\x00" not in text.decode()
            except UnicodeDecodeError:
                is_text = False
            if not is_text:
                shown = name.decode(errors="replace").replace("\x00", "")[:60]
                raise refused(f"parameter {shown!r} is not text in UTF-8 without NUL characters")


class Threaded(WsResource):
    """Base of all: answered when a thread has the answer, with what is wrong said in a sentence."""

    def render(self, txrequest: Request) -> int:
        gone: list[bool] = []
        txrequest.notifyFinish().addErrback(lambda _: gone.append(True))

        def send(content: bytes) -> None:
            if not gone:
                txrequest.write(content)
                txrequest.finish()

        deferToThread(self.answer, txrequest).addCallback(send).addErrback(
            lambda failure: log.failure("Answering a request", failure=failure)
        )
        return NOT_DONE_YET

    def answer(self, request: Request) -> bytes:
        """As scrapyd answers; but a request that is refused is no exception in the daemon's log."""
        try:
            check_texts(cast("dict[bytes, list[bytes]]", request.args))
            data = Resource.render(self, request)
        except (error.Error, error.UnsupportedMethod, UserError, SQLAlchemyError) as problem:
            data = {"status": "error", "message": in_words(problem)}
            log.info("{path!r} refused: {why!r}", path=request.path, why=data["message"])
        except Exception:  # noqa: BLE001 - the answer to whatever went wrong
            log.failure("Answering a request")
            request.setResponseCode(http.INTERNAL_SERVER_ERROR)
            data = {"status": "error", "message": "Something went wrong here; the daemon's log says what."}
        if data is None:
            # To OPTIONS, all is said in the headers.
            return b""
        content = json.dumps({"status": "ok", **data, "node_name": self.root.node_name}).encode() + b"\n"
        request.setHeader("Content-Type", "application/json")
        request.setHeader("Content-Length", str(len(content)))
        return content

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
        if not PROJECT_NAME.fullmatch(project):
            raise refused("a project's name is made of letters, digits, '.', '_' and '-', 100 at the most")
        if not 0 < len(version) <= MOST_VERSION:
            raise refused(f"a version has 1 to {MOST_VERSION} characters")
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
