"""The schema and its migrations: applied at start, once, however many processes start together."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import ProgrammingError

from pricewatch.errors import UserError

if TYPE_CHECKING:
    from alembic.config import Config

# The newest migration. Known here so that a start with an up-to-date schema need not load alembic.
REVISION = "0003"
MIGRATION_LOCK = 0x70726963
MONTHS_AHEAD = 3


def ensure_schema(engine: Engine) -> bool:
    """Bring the schema up to date; say whether anything had to be done."""
    with engine.connect() as connection:
        current = current_revision(connection)
    if current == REVISION:
        return False
    migrate(engine)
    return True


def migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    # One process migrates, the others wait here and then find nothing left to do.
    with engine.connect() as connection, migrations_config() as config:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
        try:
            current = current_revision(connection)
            known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
            if current is not None and current not in known:
                raise UserError(
                    f"The database has schema {current}, newer than the {REVISION} of this pricewatch: "
                    "upgrade pricewatch, or point DATABASE_URL at another database."
                )
            connection.commit()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()


def current_revision(connection: Connection) -> str | None:
    try:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except ProgrammingError:
        connection.rollback()
        return None


@contextmanager
def migrations_config() -> Iterator[Config]:
    """Alembic's configuration; from a zipped egg the scripts are unpacked first."""
    from alembic.config import Config

    config = Config()
    scripts = files("pricewatch.store") / "migrations"
    if isinstance(scripts, Path):
        config.set_main_option("script_location", str(scripts))
        yield config
        return
    with tempfile.TemporaryDirectory() as unpacked:
        _unpack(scripts, Path(unpacked))
        config.set_main_option("script_location", unpacked)
        yield config


def _unpack(folder: Traversable, into: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            (into / entry.name).mkdir()
            _unpack(entry, into / entry.name)
        elif not entry.name.endswith(".pyc"):
            (into / entry.name).write_bytes(entry.read_bytes())


def ensure_partitions(connection: Connection, now: datetime) -> None:
    """Make the partitions of price_history for this month and the next few."""
    for ahead in range(MONTHS_AHEAD + 1):
        month = _month(now, ahead)
        connection.execute(
            text("SELECT make_price_history_partition(:month)"), {"month": month.astimezone(UTC).date()}
        )


def _month(now: datetime, ahead: int) -> datetime:
    months = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1 + ahead
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
