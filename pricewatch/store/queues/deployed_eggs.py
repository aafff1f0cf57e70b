"""Deployed versions of projects, stored in the database so that every node can read them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert

from pricewatch.store.models import Egg

_FIND = text("""
SELECT version, digest, signature FROM eggs
WHERE project = :project AND (CAST(:version AS text) IS NULL OR version = :version)
ORDER BY added_at DESC LIMIT 1
""")
_DELETE_OLD = text("""
DELETE FROM eggs e USING (
    SELECT project, version, row_number() OVER (PARTITION BY project ORDER BY added_at DESC) AS rank
    FROM eggs
) ranked
WHERE e.project = ranked.project AND e.version = ranked.version AND ranked.rank > :count
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.project = e.project AND j.version = e.version
                    AND j.state IN ('pending', 'running'))
""")


@dataclass(frozen=True, slots=True)
class EggRecord:
    version: str
    digest: str
    signature: str | None


def put(connection: Connection, project: str, version: str, egg: bytes, signature: str | None = None) -> None:
    """Store a version. Deploying a version again makes it the newest."""
    values = {
        "egg": egg,
        "digest": hashlib.sha256(egg).hexdigest(),
        "signature": signature,
        "added_at": func.clock_timestamp(),
    }
    connection.execute(
        insert(Egg)
        .values(project=project, version=version, **values)
        .on_conflict_do_update(index_elements=[Egg.project, Egg.version], set_=values)
    )


def find(connection: Connection, project: str, version: str | None = None) -> EggRecord | None:
    """Find this version, or the newest one if `version` is None."""
    row = connection.execute(_FIND, {"project": project, "version": version}).first()
    return EggRecord(*row) if row else None


def read(connection: Connection, project: str, version: str) -> bytes | None:
    return connection.execute(select(Egg.egg).where(Egg.project == project, Egg.version == version)).scalar()


def versions(connection: Connection, project: str) -> list[str]:
    """List the versions of a project in order of deployment."""
    return list(
        connection.execute(select(Egg.version).where(Egg.project == project).order_by(Egg.added_at)).scalars()
    )


def projects(connection: Connection) -> list[str]:
    return list(connection.execute(select(Egg.project).distinct().order_by(Egg.project)).scalars())


def remove(connection: Connection, project: str, version: str | None = None) -> int:
    """Delete one version, or all versions of a project; return how many."""
    statement = delete(Egg).where(Egg.project == project)
    return connection.execute(statement.where(Egg.version == version) if version else statement).rowcount


def delete_old_versions(connection: Connection, count: int) -> int:
    """Delete all but the newest `count` versions of each project, except those that open jobs use."""
    return connection.execute(_DELETE_OLD, {"count": count}).rowcount
