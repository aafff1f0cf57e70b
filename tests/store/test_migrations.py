"""Migrations: they keep every row, only add, and refuse databases that they cannot upgrade."""

from __future__ import annotations

import ast
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import Script, ScriptDirectory
from sqlalchemy import CHAR, Column, MetaData, Table, func, inspect, select
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import UserError
from pricewatch.store.engine.schema import (
    DEVELOPMENT_REVISIONS,
    FIRST_REVISION,
    LAST_DEVELOPMENT_REVISION,
    REVISION,
    ensure_schema,
    migrations_config,
)
from tests.conftest import Crawl
from tests.databases import Database

with migrations_config() as _config:
    _directory = ScriptDirectory.from_config(_config)
    HEAD = _directory.get_current_head()
    # The oldest first.
    FIRST, *LATER = reversed(list(_directory.walk_revisions()))

LIMITER_FUNCTIONS = """
CREATE FUNCTION reserve_turns(text, text[], float8, integer, float8, float8) RETURNS boolean
    LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION reserve_turns(text, text[], float8, integer, float8, float8, float8) RETURNS boolean
    LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION confirm_turn(text, text, integer, float8) RETURNS boolean LANGUAGE sql AS 'SELECT true';
"""
FUNCTIONS = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
CHECKS = (
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE contype = 'c' AND coninhcount = 0 AND conrelid <> 0"
)
FIRST_WORD = re.compile(r"\b(\w+) = ANY \(ARRAY\['([^']+)'")
ONE_OF_COLUMNS = re.compile(r"num_nonnulls\(([\w, ]+)\) = 1")
IDENTITY_KEYS = {"identity_key": "PID:1"}
VALUES: dict[type, Any] = {
    str: "x",
    int: 1,
    float: 1.5,
    Decimal: 1,
    bool: True,
    bytes: b"x",
    object: {"a": 1},
    datetime: datetime(2026, 1, 1, tzinfo=UTC),
}
REMOVES = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN)|RENAME\s+(COLUMN\s+)?(\w+\s+)?TO|SET\s+NOT\s+NULL|TRUNCATE|DELETE\s+FROM)\b",
    re.IGNORECASE,
)
ADDS_REQUIRED = re.compile(
    r"\bADD\s+COLUMN\b(?:(?!\bDEFAULT\b)[^,;])*\bNOT\s+NULL(?!\s+DEFAULT)", re.IGNORECASE
)


def upgrade(database: Database, revision: str) -> None:
    with database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()


def make_development_database(database: Database) -> None:
    """Turn an empty database into one of the last development version."""
    upgrade(database, FIRST_REVISION)
    database.do(LIMITER_FUNCTIONS)
    database.do("UPDATE alembic_version SET version_num = :old", old=LAST_DEVELOPMENT_REVISION)


def is_filled(name: str, _: object = None) -> bool:
    return name != "alembic_version" and not name.startswith("price_history_")


def fill(database: Database) -> None:
    """Insert a row with a value in every column into every table, as they are at this revision.

    Of columns of which one must be set, the first gets a value.
    """
    rules = database.rows(CHECKS)
    words = {(table, column): word for table, rule in rules for column, word in FIRST_WORD.findall(rule)}
    empty = {
        (table, column)
        for table, rule in rules
        for columns in ONE_OF_COLUMNS.findall(rule)
        for column in columns.split(", ")[1:]
    }
    tables = MetaData()
    tables.reflect(database.engine, only=is_filled)
    with database.engine.begin() as connection:
        for table in tables.sorted_tables:
            row = {
                column: example(table, column, words)
                for column in table.columns
                if column.identity is None
                and column.computed is None
                and (table.name, column.name) not in empty
            }
            connection.execute(insert(table).values(row).on_conflict_do_nothing())


def example(table: Table, column: Column[Any], words: dict[tuple[str, str], str]) -> Any:
    for key in column.foreign_keys:
        return select(func.max(key.column)).scalar_subquery()
    if isinstance(column.type, CHAR):
        return "EUR"
    known = words.get((table.name, column.name)) or IDENTITY_KEYS.get(column.name)
    return known or VALUES[column.type.python_type]


def stored(database: Database) -> dict[str, list[dict[str, Any]]]:
    tables = filter(is_filled, inspect(database.engine).get_table_names())
    return {
        table: [row.data for row in database.rows(f"SELECT to_jsonb(t) AS data FROM {table} t")]
        for table in tables
    }


def lost(before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]) -> list[Any]:
    """The rows that are gone or changed; test_migrations_only_add covers dropped tables and columns."""
    return [
        (table, row)
        for table in before.keys() & after.keys()
        for row in before[table]
        if not any(all(row[name] == now[name] for name in row.keys() & now.keys()) for now in after[table])
    ]


def removals(source: str, *sql: str) -> list[str]:
    """The operations of a migration that break the previous version or lose data."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            sql += (node.value,)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            call = ast.unparse(node)
            requires = "nullable=False" in call and "server_default=" not in call
            match node.func.attr:
                case "drop_column" | "drop_table" | "rename_table":
                    found.append(call)
                case "add_column" | "alter_column" if requires or "new_column_name=" in call:
                    found.append(call)
    matches = (pattern.search(statement) for statement in sql for pattern in (REMOVES, ADDS_REQUIRED))
    return found + [match[0] for match in matches if match]


def sources(script: Script) -> list[str]:
    path = Path(script.path)
    return [path.read_text(), *(part.read_text() for part in path.with_suffix("").glob("*.sql"))]


def test_fresh_database_is_at_the_revision_that_the_code_expects(empty_database: Database) -> None:
    assert (HEAD, FIRST.revision) == (REVISION, FIRST_REVISION)
    assert ensure_schema(empty_database.engine) is True
    assert ensure_schema(empty_database.engine) is False
    assert empty_database.value("SELECT version_num FROM alembic_version") == REVISION
    assert empty_database.value("SELECT count(*) FROM markets WHERE source_id = 'apartments'") == 19


@pytest.mark.parametrize(
    ("before", "after"),
    [(LAST_DEVELOPMENT_REVISION, REVISION), *((step.down_revision, step.revision) for step in LATER)],
)
def test_upgrade_keeps_every_row(empty_database: Database, before: str, after: str) -> None:
    if before == LAST_DEVELOPMENT_REVISION:
        make_development_database(empty_database)
    else:
        upgrade(empty_database, before)
    fill(empty_database)
    rows = stored(empty_database)
    assert all(rows.values())
    if before == LAST_DEVELOPMENT_REVISION:
        ensure_schema(empty_database.engine)
    else:
        upgrade(empty_database, after)
    assert empty_database.value("SELECT version_num FROM alembic_version") == after
    assert lost(rows, stored(empty_database)) == []


def test_only_the_limiter_functions_of_a_development_database_are_dropped(empty_database: Database) -> None:
    make_development_database(empty_database)
    empty_database.do("CREATE TABLE of_another_program (id integer)")
    functions = {name for (name,) in empty_database.rows(FUNCTIONS)}
    assert ensure_schema(empty_database.engine) is True
    kept = {name for (name,) in empty_database.rows(FUNCTIONS)}
    assert functions - kept == {"reserve_turns", "confirm_turn"}
    assert empty_database.value("SELECT count(*) FROM of_another_program") == 0


def test_ten_processes_adopt_a_development_database_at_once(empty_database: Database, crawl: Crawl) -> None:
    make_development_database(empty_database)
    started = [crawl.command("migrate", DATABASE_URL=empty_database.url) for _ in range(10)]
    outcomes = [process.end() for process in started]
    assert {(outcome.returncode, outcome.stderr) for outcome in outcomes} == {(0, "")}
    assert empty_database.rows("SELECT version_num FROM alembic_version") == [(REVISION,)]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE markets DROP COLUMN price_currency",
        "ALTER TABLE markets ADD COLUMN own text",
        "ALTER TABLE markets ALTER COLUMN keyword TYPE varchar(10)",
        "DROP TABLE quarantine_pages",
    ],
)
def test_development_database_with_other_tables_is_refused(empty_database: Database, change: str) -> None:
    make_development_database(empty_database)
    empty_database.do(change)
    refused = r"schema 0015 with other tables or columns\) that this release cannot upgrade\. Export"
    with pytest.raises(UserError, match=refused):
        ensure_schema(empty_database.engine)
    assert empty_database.value("SELECT version_num FROM alembic_version") == "0015"
    assert {name for (name,) in empty_database.rows(FUNCTIONS)} >= {"reserve_turns", "confirm_turn"}


@pytest.mark.parametrize("revision", DEVELOPMENT_REVISIONS[:-1])
def test_older_development_database_is_refused(database: Database, revision: str) -> None:
    database.do("UPDATE alembic_version SET version_num = :revision", revision=revision)
    with pytest.raises(UserError) as refused:
        ensure_schema(database.engine)
    assert str(refused.value) == (
        f"This database was made by a development version (schema {revision}) that this release cannot"
        " upgrade. Export what you need, then start with an empty database."
    )
    assert database.value("SELECT version_num FROM alembic_version") == revision


def test_newer_schema_is_refused(database: Database) -> None:
    database.do("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UserError, match=rf"has schema 9999, newer than the {REVISION}.*Upgrade pricewatch"):
        ensure_schema(database.engine)
    assert database.value("SELECT version_num FROM alembic_version") == "9999"


def test_migrations_only_add() -> None:
    """Unless `contracts` names the earlier revision that added the replacement."""
    earlier = {FIRST.revision}
    for script in LATER:
        contracts = getattr(script.module, "contracts", None)
        assert contracts in earlier or not removals(*sources(script)), script.path
        earlier.add(script.revision)


@pytest.mark.parametrize(
    ("source", "is_allowed"),
    [
        ("op.add_column('t', sa.Column('c', sa.Text()))", True),
        ("op.add_column('t', sa.Column('c', sa.Text(), nullable=False, server_default=''))", True),
        ("op.create_table('t', sa.Column('c', sa.Text(), nullable=False))", True),
        ("op.execute('ALTER TABLE t ADD COLUMN c text NOT NULL DEFAULT 0, ADD COLUMN d text')", True),
        ("op.execute('ALTER TABLE t ADD COLUMN c text DEFAULT 0 NOT NULL')", True),
        ("op.add_column('t', sa.Column('c', sa.Text(), nullable=False))", False),
        ("op.alter_column('t', 'c', nullable=False)", False),
        ("op.alter_column('t', 'c', new_column_name='d')", False),
        ("op.drop_column('t', 'c')", False),
        ("op.drop_table('t')", False),
        ("op.rename_table('t', 'u')", False),
        ("op.execute('ALTER TABLE t ADD COLUMN c text NOT NULL')", False),
        ("op.execute('ALTER TABLE t ALTER COLUMN c SET NOT NULL')", False),
        ("op.execute('alter table t drop column c')", False),
        ("op.execute('ALTER TABLE t RENAME COLUMN c TO d')", False),
        ("op.execute('DELETE FROM t')", False),
    ],
)
def test_removals_are_found(source: str, is_allowed: bool) -> None:
    assert (removals(source) == []) is is_allowed
