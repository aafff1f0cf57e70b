"""scrapyd's egg storage: eggs are stored in the database, so that a deploy to one node reaches all nodes."""

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

from pricewatch import clock
from pricewatch.scheduling.egg_signature import EggSigner
from pricewatch.scheduling.membership import membership
from pricewatch.store.operations import alert_rows
from pricewatch.store.queues import deployed_eggs

MAX_NAME_LENGTH = 100
# The alert about versions that this cluster's key has not signed.
EGG_REFUSED = "egg_refused"


@implementer(IEggStorage)
class PostgresEggStorage:
    """Copies the egg of a job to `eggs_dir` once, under a name that contains the hash of its content."""

    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        self.directory = config.get("eggs_dir", "eggs")
        self.signer = EggSigner.from_environment()

    def put(
        self, eggfile: IO[bytes], project: str, version: str, connection: Connection | None = None
    ) -> None:
        # Refuses a project name that is a path.
        self._path(project, version, "0")
        egg = eggfile.read()
        signature = self.signer.sign(project, version, egg)
        with nullcontext(connection) if connection else self._membership.begin() as connection:
            deployed_eggs.put(connection, project, version, egg, signature)
            alert_rows.resolve_alert(
                connection, kind=EGG_REFUSED, subject=f"{project} {version}", now=clock.now()
            )

    def get(self, project: str, version: str | None = None) -> tuple[str | None, IO[bytes] | None]:
        found = self.fetch(project, version)
        return (found[0], found[1].open("rb")) if found else (None, None)

    def fetch(
        self, project: str, version: str | None = None, connection: Connection | None = None
    ) -> tuple[str, Path] | None:
        """Return the version and its path on this machine, copying it from the database if necessary.

        Raises EggRefused for an egg that is not signed with this node's key, if it has one.
        """
        with nullcontext(connection) if connection else self._membership.begin() as connection:
            record = deployed_eggs.find(connection, project, version)
            if record is None:
                return None
            path = self._path(project, record.version, record.digest)
            if not self.signer.trusts_file(project, record.version, path, record.signature):
                content = deployed_eggs.read(connection, project, record.version)
                if content is None:
                    return None
                self.signer.check(project, record.version, content, record.signature)
                _write(path, content)
        return record.version, path

    def list_projects(self) -> list[str]:
        with self._membership.begin() as connection:
            return deployed_eggs.projects(connection)

    def delete(self, project: str, version: str | None = None, connection: Connection | None = None) -> None:
        with nullcontext(connection) if connection else self._membership.begin() as connection:
            if not deployed_eggs.remove(connection, project, version):
                raise EggNotFoundError if version else ProjectNotFoundError

    def _path(self, project: str, version: str, digest: str) -> Path:
        """The path of an egg; raises for a project name that would leave the directory."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", version)[:MAX_NAME_LENGTH]
        path: str = get_file_path(self.directory, project, "eggs", f"{name}-{digest[:16]}.egg").path
        return Path(path)

    def list(self, project: str) -> list[str]:
        with self._membership.begin() as connection:
            return deployed_eggs.versions(connection, project)


def _write(path: Path, content: bytes) -> None:
    """Write atomically: another daemon on this machine may read the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).rename(path)
