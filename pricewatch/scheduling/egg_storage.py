"""scrapyd's egg storage: eggs lie in the database, so that a deploy to one node reaches all of them."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import IO

from scrapyd.config import Config
from scrapyd.exceptions import EggNotFoundError, ProjectNotFoundError
from scrapyd.interfaces import IEggStorage
from scrapyd.utils import get_file_path
from sqlalchemy import Connection
from zope.interface import implementer

from pricewatch.scheduling.membership import membership
from pricewatch.store.queues import deployed_eggs

MOST_NAME = 100


@implementer(IEggStorage)
class PostgresEggStorage:
    """What a job needs is copied to `eggs_dir` once, under a name that tells its content."""

    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        self.directory = config.get("eggs_dir", "eggs")

    def put(self, eggfile: IO[bytes], project: str, version: str) -> None:
        self._place(project, version, "0")
        with self._membership.begin() as connection:
            deployed_eggs.put(connection, project, version, eggfile.read())

    def get(self, project: str, version: str | None = None) -> tuple[str | None, IO[bytes] | None]:
        found = self.fetch(project, version)
        return (found[0], found[1].open("rb")) if found else (None, None)

    def fetch(
        self, project: str, version: str | None = None, connection: Connection | None = None
    ) -> tuple[str, Path] | None:
        """The version and where it lies on this machine, copied from the database if need be."""
        with nullcontext(connection) if connection else self._membership.begin() as connection:
            record = deployed_eggs.find(connection, project, version)
            if record is None:
                return None
            place = self._place(project, record.version, record.digest)
            if not place.exists():
                content = deployed_eggs.read(connection, project, record.version)
                if content is None:
                    return None
                _write(place, content)
        return record.version, place

    def list_projects(self) -> list[str]:
        with self._membership.begin() as connection:
            return deployed_eggs.projects(connection)

    def delete(self, project: str, version: str | None = None) -> None:
        with self._membership.begin() as connection:
            if not deployed_eggs.remove(connection, project, version):
                raise EggNotFoundError if version else ProjectNotFoundError

    def _place(self, project: str, version: str, digest: str) -> Path:
        """Refuses names that would lead out of the directory."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", version)[:MOST_NAME]
        found: str = get_file_path(self.directory, project, "eggs", f"{name}-{digest[:16]}.egg").path
        return Path(found)

    def list(self, project: str) -> list[str]:
        with self._membership.begin() as connection:
            return deployed_eggs.versions(connection, project)


def _write(place: Path, content: bytes) -> None:
    """All of it or nothing: another daemon of this machine may be reading."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).rename(place)
