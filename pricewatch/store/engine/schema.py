"""The schema and its migrations: applied at start, once, however many processes start together."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import ProgrammingError

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.store.engine.query_deadline import DeadlineConnection

if TYPE_CHECKING:
    from alembic.config import Config

# The newest migration. Known here so that a start with an up-to-date schema need not load alembic.
REVISION = "0015"
MIGRATION_LOCK = 0x70726963
PARTITION_LOCK = MIGRATION_LOCK + 1
MONTHS_AHEAD = 3
UNDEFINED_TABLE, NO_PERMISSION = "42P01", "42501"

# A month whose first rows already lie in the default partition stays there.
_MISSING_MONTHS = text("""
SELECT month FROM unnest(CAST(:months AS date[])) AS month
WHERE to_regclass('price_history_' || to_char(month, 'YYYY_MM')) IS NULL
  AND NOT EXISTS (SELECT FROM price_history_other
                  WHERE observed_at >= month AND observed_at < month + interval '1 month')
ORDER BY month
""")


def ensure_schema(engine: Engine) -> bool:
    """Bring the schema up to date; say whether anything had to be done."""
    with engine.connect() as connection:
        outdated = current_revision(connection) != REVISION
    if outdated:
        migrate(engine)
    with engine.begin() as connection:
        ensure_partitions(connection, clock.now())
    return outdated


def migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    # One process migrates, the others wait here and then find nothing left to do.
    with engine.connect() as connection, migrations_config() as config:
        be_patient(connection)
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
        except ProgrammingError as error:
            if getattr(error.orig, "pgcode", None) != NO_PERMISSION:
                raise
            raise UserError(
                f"The database user may not make or change pricewatch's tables ({_complaint(error)}): "
                "grant it CREATE on the database's schema, or run `scrapy migrate` as the owner."
            ) from None
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()


def be_patient(connection: Connection) -> None:
    """A migration of a large table takes as long as it takes."""
    connection.detach()
    line: Any = connection.connection.dbapi_connection
    if isinstance(line, DeadlineConnection):
        line.patience = None


def current_revision(connection: Connection) -> str | None:
    try:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except ProgrammingError as error:
        connection.rollback()
        if getattr(error.orig, "pgcode", None) == UNDEFINED_TABLE:
            return None
        raise UserError(
            f"The database cannot be asked for its schema ({_complaint(error)}): grant the database user "
            "access to pricewatch's tables."
        ) from None


def _complaint(error: ProgrammingError) -> str:
    return str(error.orig).strip().split("\n")[0]


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
    months = [_month(now, ahead).date() for ahead in range(MONTHS_AHEAD + 1)]
    # One at a time: to look takes hold of a table that whoever makes a partition needs for itself.
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": PARTITION_LOCK})
    missing = connection.execute(_MISSING_MONTHS, {"months": months}).scalars().all()
    if missing:
        # In the order in which a batch takes its locks, so that the two never wait for each other.
        connection.execute(text("LOCK TABLE listings IN SHARE ROW EXCLUSIVE MODE"))
    for month in missing:
        connection.execute(text("SELECT make_price_history_partition(:month)"), {"month": month})


def _month(now: datetime, ahead: int) -> datetime:
    months = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1 + ahead
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
