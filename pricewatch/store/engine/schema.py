"""The schema and its migrations, applied once when the first of several processes starts."""

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

# The newest migration, repeated here so that a start with an up-to-date schema does not load alembic.
REVISION = "0906"
FIRST_REVISION = "0900"
# Development versions before the first migration: only the last of them had today's tables.
DEVELOPMENT_REVISIONS = tuple(f"{number:04}" for number in range(1, 16))
LAST_DEVELOPMENT_REVISION = DEVELOPMENT_REVISIONS[-1]
MIGRATION_LOCK = 0x70726963
PARTITION_LOCK = MIGRATION_LOCK + 1
MONTHS_AHEAD = 3
UNDEFINED_TABLE, NO_PERMISSION = "42P01", "42501"

# The rate limiter of development versions ran in the database.
_DROP_LIMITER_FUNCTIONS = text("""
DROP FUNCTION IF EXISTS
    reserve_turns(text, text[], float8, integer, float8, float8),
    reserve_turns(text, text[], float8, integer, float8, float8, float8),
    confirm_turn(text, text, integer, float8)
""")
# A month whose first rows are already in the default partition stays there.
_MISSING_MONTHS = text("""
SELECT month FROM unnest(CAST(:months AS date[])) AS month
WHERE to_regclass('price_history_' || to_char(month, 'YYYY_MM')) IS NULL
  AND NOT EXISTS (SELECT FROM price_history_other
                  WHERE observed_at >= month AND observed_at < month + interval '1 month')
ORDER BY month
""")


def ensure_schema(engine: Engine) -> bool:
    """Bring the schema up to date and return whether it had to be migrated."""
    with engine.connect() as connection:
        outdated = current_revision(connection) != REVISION
    if outdated:
        migrate(engine)
    with engine.begin() as connection:
        ensure_partitions(connection, clock.now())
    return outdated


def migrate(engine: Engine) -> None:
    from alembic import command

    # One process migrates; the others wait for the lock and then find nothing left to do.
    with engine.connect() as connection, migrations_config() as config:
        disable_query_deadline(connection)
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
        try:
            current = current_revision(connection)
            _refuse_unknown(current, config)
            config.attributes["connection"] = connection
            if current == LAST_DEVELOPMENT_REVISION:
                # In the transaction of the upgrade: if the tables differ, it is rolled back.
                _adopt(connection)
                command.upgrade(config, "head")
                _refuse_other_tables(connection)
            else:
                connection.commit()
                command.upgrade(config, "head")
            connection.commit()
        except ProgrammingError as error:
            if getattr(error.orig, "pgcode", None) != NO_PERMISSION:
                raise
            raise UserError(
                f"The database user cannot create or change pricewatch's tables ({_first_line(error)}). "
                "Grant it CREATE on the database's schema, or run `scrapy migrate` as the owner."
            ) from None
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()


def _refuse_unknown(current: str | None, config: Config) -> None:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is None or current in known or current == LAST_DEVELOPMENT_REVISION:
        return
    if current in DEVELOPMENT_REVISIONS:
        raise UserError(_made_by_development_version(current))
    raise UserError(
        f"The database has schema {current}, newer than the {REVISION} of this pricewatch. "
        "Upgrade pricewatch, or set DATABASE_URL to another database."
    )


def _made_by_development_version(schema: str) -> str:
    return (
        f"This database was made by a development version (schema {schema}) that this release cannot "
        "upgrade. Export what you need, then start with an empty database."
    )


def _adopt(connection: Connection) -> None:
    connection.execute(_DROP_LIMITER_FUNCTIONS)
    connection.execute(
        text("UPDATE alembic_version SET version_num = :revision"), {"revision": FIRST_REVISION}
    )


def _refuse_other_tables(connection: Connection) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from pricewatch.store.models import Base

    def is_compared(_item: object, _name: str, kind: str, reflected: bool, counterpart: object) -> bool:
        # Tables without a model are partitions, or belong to another application.
        return kind == "column" or (kind == "table" and not (reflected and counterpart is None))

    context = MigrationContext.configure(connection, opts={"include_object": is_compared})
    if compare_metadata(context, Base.metadata):
        raise UserError(
            _made_by_development_version(f"{LAST_DEVELOPMENT_REVISION} with other tables or columns")
        )


def disable_query_deadline(connection: Connection) -> None:
    """Let a migration of a large table run as long as it needs."""
    connection.detach()
    raw_connection: Any = connection.connection.dbapi_connection
    if isinstance(raw_connection, DeadlineConnection):
        raw_connection.answer_seconds = None


def current_revision(connection: Connection) -> str | None:
    try:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except ProgrammingError as error:
        connection.rollback()
        if getattr(error.orig, "pgcode", None) == UNDEFINED_TABLE:
            return None
        raise UserError(
            f"The schema version of the database cannot be read ({_first_line(error)}). Grant the database "
            "user access to pricewatch's tables."
        ) from None


def _first_line(error: ProgrammingError) -> str:
    return str(error.orig).strip().split("\n")[0]


@contextmanager
def migrations_config() -> Iterator[Config]:
    """Alembic's configuration; the scripts of a zipped egg are unpacked into a temporary directory."""
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
    """Create the partitions of price_history for this month and the next few."""
    months = [_month(now, ahead).date() for ahead in range(MONTHS_AHEAD + 1)]
    # One at a time: the query below locks a table that CREATE TABLE ... PARTITION OF needs exclusively.
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": PARTITION_LOCK})
    missing = connection.execute(_MISSING_MONTHS, {"months": months}).scalars().all()
    if missing:
        # A batch locks listings first too, so that the two cannot deadlock.
        connection.execute(text("LOCK TABLE listings IN SHARE ROW EXCLUSIVE MODE"))
    for month in missing:
        connection.execute(text("SELECT make_price_history_partition(:month)"), {"month": month})


def _month(now: datetime, ahead: int) -> datetime:
    months = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1 + ahead
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
