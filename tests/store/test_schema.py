"""The schema: models and migrations agree, and what the database itself enforces."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, DateTime, create_engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from pricewatch.errors import UserError
from pricewatch.store.engine.schema import REVISION, ensure_partitions, ensure_schema
from pricewatch.store.models import Base
from tests.conftest import ROOT
from tests.databases import Database

TABLES = {
    *("retailers", "sources", "markets", "market_listings", "listings", "listing_identifiers", "products"),
    *("price_history", "sellers", "seller_history", "targets", "runs", "run_pages", "verification_attempts"),
    *("quarantine", "adapter_status", "proxy_blocks", "robots_cache", "rate_limits", "alerts", "watch_rules"),
}
WORDS = {
    *("status", "outcome", "reason", "availability", "tier", "visibility", "spider", "trigger", "kind"),
    *("type", "state", "strategy", "severity"),
}
# Columns of these names that hold free text or an open list.
FREE = {
    *(
        "runs.reason",
        "verification_attempts.reason",
        "robots_cache.reason",
        "targets.last_reason",
        "markets.state",
    ),
    *(
        "robots_cache.http_status",
        "run_pages.http_status",
        "verification_attempts.http_status",
        "alerts.kind",
    ),
    # Names of any deployed project.
    *("runs.spider", "jobs.spider", "jobs.reason"),
}


def test_every_table_of_the_specification_has_a_model() -> None:
    assert set(Base.metadata.tables) >= TABLES


def test_models_match_the_migrated_schema(database: Database) -> None:
    def ours(_object, name, kind, reflected, _compare) -> bool:
        return not (kind == "table" and reflected and name.startswith("price_history_"))

    with database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": ours, "compare_type": True, "compare_server_default": False}
        )
        assert compare_metadata(context, Base.metadata) == []


def test_check_constraints_match_the_models(database: Database) -> None:
    """Alembic does not compare check constraints."""
    made = {
        name
        for (name,) in database.rows(
            "SELECT conname FROM pg_constraint WHERE contype = 'c' AND coninhcount = 0 AND conrelid <> 0"
        )
    }
    wanted = {
        constraint.name
        for table in Base.metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    assert made == wanted


def test_user_without_permission_to_create_tables_is_refused(empty_database: Database) -> None:
    name = f"reader_of_{empty_database.engine.url.database}"
    empty_database.do(f"CREATE ROLE {name} LOGIN")
    engine = create_engine(empty_database.engine.url.set(username=name))
    try:
        with pytest.raises(UserError, match=r"cannot create or change pricewatch's tables.*Grant"):
            ensure_schema(engine)
    finally:
        engine.dispose()
        empty_database.do(f"DROP ROLE {name}")


def test_migrates_from_a_zipped_package(empty_database: Database, tmp_path: Path) -> None:
    egg = tmp_path / "pricewatch.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in (ROOT / "pricewatch").rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(ROOT))
    outcome = subprocess.run(
        [sys.executable, "-c", "import pricewatch.store.engine.database as d; d.engine(); print(d.__file__)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(egg), "DATABASE_URL": empty_database.url},
        capture_output=True,
        text=True,
    )
    assert outcome.stderr == ""
    assert outcome.stdout.startswith(str(egg))
    assert empty_database.value("SELECT version_num FROM alembic_version") == REVISION


def test_every_status_column_has_a_check_constraint(database: Database) -> None:
    wanted = [
        (table.name, column.name)
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if column.name.split("_")[-1] in WORDS and f"{table.name}.{column.name}" not in FREE
    ]
    assert len(wanted) > 20
    rules = database.rows(
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'"
    )
    for table, column in wanted:
        found = [rule for where, rule in rules if where == table and f"({column} = ANY" in rule]
        assert len(found) == 1, f"{table}.{column} has no check constraint"
        rule = found[0].removeprefix("CHECK ")
        assert database.value(f"SELECT {rule} FROM (SELECT 'nonsense' AS {column}) AS row") is False


def test_spider_names_have_1_to_100_characters(database: Database) -> None:
    run = "INSERT INTO runs (spider, started_at, heartbeat_at) VALUES (:spider, now(), now())"
    for name in ("t", "x" * 100):
        assert database.do(run, spider=name) == 1
    for name in ("", "x" * 101):
        with pytest.raises(IntegrityError, match="ck_runs_spider"):
            database.do(run, spider=name)


def test_unknown_tier_is_refused(database: Database) -> None:
    with pytest.raises(IntegrityError, match="ck_markets_tier"):
        database.do("UPDATE markets SET tier = 'lukewarm' WHERE id = 'bazaar-bikes'")


def test_every_timestamp_has_a_time_zone(database: Database) -> None:
    times = [
        column
        for table in Base.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, DateTime)
    ]
    assert times
    assert all(getattr(column.type, "timezone", False) for column in times)
    assert (
        database.rows(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND data_type IN ('timestamp without time zone', 'date')"
        )
        == []
    )
    assert database.value("SELECT first_at FROM (SELECT now() AS first_at) AS row").tzinfo is not None


class TestPriceHistory:
    @pytest.fixture
    def database(self, database: Database) -> Database:
        database.do(
            "INSERT INTO listings (source_id, identity_key, url, canonical_url, title, availability,"
            " first_seen_at, last_seen_at)"
            " VALUES ('bazaar', 'PID:1', 'u', 'u', 't', 'IN_STOCK', now(), now())"
        )
        database.call(ensure_partitions, datetime(2031, 11, 20, tzinfo=UTC))
        for moment in ("2031-11-30 23:59:59.999999+00", "2031-12-01 00:00+00", "2019-01-01 00:00+00"):
            self.add(database, moment)
        return database

    def add(self, database: Database, moment: str) -> None:
        database.do(
            "INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability)"
            " SELECT id, CAST(:moment AS timestamptz), 100, 'EUR', 'IN_STOCK' FROM listings",
            moment=moment,
        )

    def test_partitions_are_created_ahead_and_other_months_use_the_default(self, database: Database) -> None:
        where = database.rows(
            "SELECT tableoid::regclass::text, to_char(observed_at AT TIME ZONE 'UTC', 'YYYY-MM')"
            " FROM price_history ORDER BY observed_at"
        )
        assert [tuple(row) for row in where] == [
            ("price_history_other", "2019-01"),
            ("price_history_2031_11", "2031-11"),
            ("price_history_2031_12", "2031-12"),
        ]
        months = ["2031_11", "2032_01", "2032_02", "2032_03"]
        made = database.rows(
            "SELECT to_regclass('price_history_' || month) FROM unnest(CAST(:months AS text[])) AS month",
            months=months,
        )
        assert [name is not None for (name,) in made] == [True, True, True, False]

    def test_creating_partitions_again_changes_nothing(self, database: Database) -> None:
        database.call(ensure_partitions, datetime(2031, 12, 20, tzinfo=UTC))
        # The rows of a month without a partition stay in the default one.
        database.call(ensure_partitions, datetime(2019, 1, 20, tzinfo=UTC))
        self.add(database, "2019-01-02 00:00+00")
        assert database.value("SELECT count(*) FROM price_history") == 4
        assert database.value("SELECT to_regclass('price_history_2019_01')") is None

    def test_rows_cannot_be_changed_or_deleted(self, database: Database) -> None:
        for table in ("price_history", "price_history_2031_11", "price_history_other"):
            for statement in ("UPDATE {0} SET price_cents = 1", "DELETE FROM {0}", "TRUNCATE {0}"):
                with pytest.raises(DBAPIError, match="append-only"):
                    database.do(statement.format(table))
        assert database.value("SELECT sum(price_cents) FROM price_history") == 300

    def test_deleting_listings_does_not_delete_history(self, database: Database) -> None:
        with pytest.raises(DBAPIError):
            database.do("DELETE FROM listings")
        with pytest.raises(DBAPIError):
            database.do("TRUNCATE listings CASCADE")
        assert database.value("SELECT count(*) FROM price_history") == 3


def test_concurrent_processes_create_each_partition_once(database: Database) -> None:
    """The query for missing months locks a table that creating a partition needs exclusively."""
    together = threading.Barrier(6)
    # One instant for all: the month may end while the test runs.
    now = datetime.now(UTC)

    def start() -> None:
        together.wait()
        database.call(ensure_partitions, now)

    def partitions() -> list[str]:
        tree = "SELECT relid::regclass::text FROM pg_partition_tree('price_history') WHERE isleaf ORDER BY 1"
        return [name for (name,) in database.rows(tree)]

    def drop_all() -> None:
        for name in partitions():
            if name != "price_history_other":
                database.do(f"DROP TABLE {name}")

    drop_all()
    database.call(ensure_partitions, now)
    wanted = partitions()
    assert len(wanted) > 1
    for _ in range(3):
        drop_all()
        with ThreadPoolExecutor(6) as threads:
            for done in [threads.submit(start) for _ in range(6)]:
                done.result()
        assert partitions() == wanted
