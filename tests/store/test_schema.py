"""The schema: what the models say is what the migrations make, and what the database itself enforces."""

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
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, DateTime, create_engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from pricewatch.errors import UserError
from pricewatch.store.engine.schema import (
    REVISION,
    current_revision,
    ensure_partitions,
    ensure_schema,
    migrations_config,
)
from pricewatch.store.models import Base
from tests.conftest import ROOT
from tests.databases import Database
from tests.store.observations import START, card, store

with migrations_config() as _config:
    SIGHTING_AND_PRICE = next(
        script
        for script in ScriptDirectory.from_config(_config).walk_revisions()
        if script.path.endswith("_sighting_and_price.py")
    )

TABLES = {
    *("retailers", "sources", "markets", "market_listings", "listings", "listing_identifiers", "products"),
    *("price_history", "sellers", "seller_history", "targets", "runs", "run_pages", "verification_attempts"),
    *("quarantine", "adapter_status", "proxy_blocks", "robots_cache", "rate_limits", "alerts", "watch_rules"),
}
WORDS = {
    *("status", "outcome", "reason", "availability", "tier", "visibility", "spider", "trigger", "kind"),
    *("type", "state", "strategy", "severity"),
}
# Columns of these names that hold a sentence or an open list, not a word from a closed one.
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
    # Of any project that is deployed.
    *("runs.spider", "jobs.spider", "jobs.reason"),
}


def test_has_every_table_of_the_specification() -> None:
    assert set(Base.metadata.tables) >= TABLES


def test_models_are_what_the_migrations_make(database: Database) -> None:
    def ours(_object, name, kind, reflected, _compare) -> bool:
        return not (kind == "table" and reflected and name.startswith("price_history_"))

    with database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": ours, "compare_type": True, "compare_server_default": False}
        )
        assert compare_metadata(context, Base.metadata) == []


def test_check_constraints_are_those_of_the_models(database: Database) -> None:
    """Alembic does not compare these."""
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


def test_known_revision_is_the_newest_one() -> None:
    with migrations_config() as config:
        assert ScriptDirectory.from_config(config).get_current_head() == REVISION


def test_goes_down_to_nothing_and_up_again(database: Database) -> None:
    with database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        connection.commit()
    left = database.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relname NOT LIKE 'alembic_version%' UNION ALL"
        " SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    )
    assert left == []
    assert ensure_schema(database.engine) is True
    assert ensure_schema(database.engine) is False
    assert database.value("SELECT count(*) FROM markets WHERE source_id = 'apartments'") == 19


def test_data_of_before_is_kept_and_goes_back(database: Database) -> None:
    """A price that nobody read has no age; on the way back, what is only listed is in stock again."""
    store(database.engine, [card(1, 1000), card(2, None), card(3, 1000, availability=None)])
    with database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.downgrade(config, str(SIGHTING_AND_PRICE.down_revision))
        connection.commit()
    before = "SELECT identity_key, availability, price_observed_at FROM listings ORDER BY 1"
    assert [tuple(row) for row in database.rows(before)] == [
        ("PID:1", "IN_STOCK", START),
        ("PID:2", "IN_STOCK", START),
        ("PID:3", "IN_STOCK", START),
    ]
    assert database.value("SELECT count(*) FROM price_history WHERE availability = 'IN_STOCK'") == 2
    with pytest.raises(DBAPIError, match="append-only"):
        database.do("UPDATE price_history SET price_cents = 1")
    assert ensure_schema(database.engine) is True
    after = "SELECT identity_key, price_observed_at, stock_observed_at FROM listings ORDER BY 1"
    assert [tuple(row) for row in database.rows(after)] == [
        ("PID:1", START, None),
        ("PID:2", None, START),
        ("PID:3", START, None),
    ]
    assert database.value("SELECT count(*) FROM visible_price_history") == 0
    with pytest.raises(DBAPIError, match="append-only"):
        database.do("DELETE FROM price_history")


def test_a_newer_schema_is_not_touched(database: Database) -> None:
    database.do("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UserError, match=f"has schema 9999, newer than the {REVISION}.*upgrade pricewatch"):
        ensure_schema(database.engine)
    assert database.value("SELECT version_num FROM alembic_version") == "9999"


def test_an_older_schema_is_brought_up_to_date(empty_database: Database) -> None:
    with empty_database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.commit()
    assert ensure_schema(empty_database.engine) is True
    with empty_database.engine.connect() as connection:
        assert current_revision(connection) == REVISION


def test_failures_of_a_market_become_those_of_each_spider_and_back(empty_database: Database) -> None:
    failed = "UPDATE markets SET consecutive_failures = 3, last_failure_at = now() WHERE id = 'bazaar-bikes'"
    with empty_database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.upgrade(config, "0009")
        connection.commit()
        empty_database.do(failed)
        command.upgrade(config, "head")
        connection.commit()
        row = empty_database.row("SELECT * FROM markets WHERE id = 'bazaar-bikes'")
        assert (row.discovery_failures, row.sweep_failures, row.verification_failures) == (3, 3, 3)
        assert row.sweep_failed_at is not None
        empty_database.do("UPDATE markets SET discovery_failures = 0 WHERE id = 'bazaar-bikes'")
        command.downgrade(config, "0009")
        connection.commit()
    row = empty_database.row("SELECT * FROM markets WHERE id = 'bazaar-bikes'")
    assert (row.consecutive_failures, row.last_failure_at is not None) == (3, True)


def test_held_offers_and_switches_of_older_versions_are_kept(empty_database: Database) -> None:
    held = (
        "INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, identity_key, reason, page,"
        " page_hash, observed_at) SELECT 'bazaar', 'bazaar', '1', 'u', 'PID:' || n % 2, 'AMBIGUOUS_PRICE',"
        " 'page', 'h', timestamptz '2026-01-01' + n * interval '1 day' FROM generate_series(0, 4) AS n"
    )
    with empty_database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.upgrade(config, "0009")
        connection.commit()
        empty_database.do(held)
        empty_database.do("INSERT INTO adapter_status (adapter_id, enabled) VALUES ('bazaar', false)")
        command.upgrade(config, "head")
        connection.commit()
        rows = empty_database.rows("SELECT * FROM quarantine ORDER BY id")
        assert [(row.status, row.times_seen) for row in rows[3:]] == [("pending", 2), ("pending", 3)]
        assert {row.status for row in rows[:3]} == {"rejected"}
        assert rows[4].first_seen_at == datetime(2026, 1, 1, tzinfo=UTC)
        assert empty_database.value("SELECT count(*) FROM quarantine_pages") == 1
        switch = empty_database.row("SELECT * FROM adapter_status")
        assert (switch.source_id, switch.enabled) == ("*", False)
        command.downgrade(config, "0009")
        connection.commit()
    assert empty_database.value("SELECT count(*) FROM quarantine WHERE page = 'page'") == 5


def test_runs_of_any_spider_are_kept_until_the_schema_goes_back(database: Database) -> None:
    run = (
        "INSERT INTO runs (spider, adapter_id, started_at, heartbeat_at, status)"
        " VALUES (:spider, :adapter_id, now(), now(), 'finished') RETURNING id"
    )
    ours = database.value(run, spider="sweep", adapter_id="bazaar")
    toys = database.value(run, spider="toys", adapter_id="spider:toys")
    for name in ("", "x" * 101):
        with pytest.raises(IntegrityError, match="ck_runs_spider"):
            database.do(run, spider=name, adapter_id=None)
    database.do(
        "INSERT INTO run_pages (run_id, url, outcome, fetched_at) SELECT id, 'u', 'ok', now() FROM runs"
    )
    for adapter_id in ("bazaar", "spider:toys"):
        switch = "INSERT INTO adapter_status (adapter_id, enabled) VALUES (:id, false)"
        database.do(switch, id=adapter_id)
    store(database.engine, [card(1, 1000)], run_id=toys)
    with database.engine.connect() as connection, migrations_config() as config:
        config.attributes["connection"] = connection
        command.downgrade(config, "0014")
        connection.commit()
    assert [row.id for row in database.rows("SELECT id FROM runs")] == [ours]
    assert [row.run_id for row in database.rows("SELECT run_id FROM run_pages")] == [ours]
    assert [row.adapter_id for row in database.rows("SELECT adapter_id FROM adapter_status")] == ["bazaar"]
    assert database.value("SELECT count(*) FROM price_history") == 1
    with pytest.raises(IntegrityError, match="ck_runs_spider"):
        database.do(run, spider="toys", adapter_id=None)
    assert ensure_schema(database.engine) is True
    assert database.value(run, spider="toys", adapter_id=None) > toys


def test_a_user_who_may_not_make_tables_is_told(empty_database: Database) -> None:
    name = f"reader_of_{empty_database.engine.url.database}"
    empty_database.do(f"CREATE ROLE {name} LOGIN")
    engine = create_engine(empty_database.engine.url.set(username=name))
    try:
        with pytest.raises(UserError, match=r"may not make or change pricewatch's tables.*grant"):
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
        [
            sys.executable,
            "-c",
            "import pricewatch.store.engine.database as d; d.engine(); print(d.__file__)",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(egg), "DATABASE_URL": empty_database.url},
        capture_output=True,
        text=True,
    )
    assert outcome.stderr == ""
    assert outcome.stdout.startswith(str(egg))
    assert empty_database.value("SELECT version_num FROM alembic_version") == REVISION


def test_every_status_is_a_constraint_of_the_database(database: Database) -> None:
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
        assert len(found) == 1, f"{table}.{column} takes any word"
        rule = found[0].removeprefix("CHECK ")
        assert database.value(f"SELECT {rule} FROM (SELECT 'nonsense' AS {column}) AS row") is False


def test_a_wrong_word_is_refused(database: Database) -> None:
    with pytest.raises(IntegrityError, match="ck_markets_tier"):
        database.do("UPDATE markets SET tier = 'lukewarm' WHERE id = 'bazaar-bikes'")


def test_every_time_has_a_time_zone(database: Database) -> None:
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

    def test_partitions_are_made_ahead_and_other_months_are_kept_too(self, database: Database) -> None:
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

    def test_making_partitions_again_does_no_harm(self, database: Database) -> None:
        database.call(ensure_partitions, datetime(2031, 12, 20, tzinfo=UTC))
        # A month whose rows came before its partition stays where it is.
        database.call(ensure_partitions, datetime(2019, 1, 20, tzinfo=UTC))
        self.add(database, "2019-01-02 00:00+00")
        assert database.value("SELECT count(*) FROM price_history") == 4
        assert database.value("SELECT to_regclass('price_history_2019_01')") is None

    def test_cannot_be_changed(self, database: Database) -> None:
        for table in ("price_history", "price_history_2031_11", "price_history_other"):
            for statement in ("UPDATE {0} SET price_cents = 1", "DELETE FROM {0}", "TRUNCATE {0}"):
                with pytest.raises(DBAPIError, match="append-only"):
                    database.do(statement.format(table))
        assert database.value("SELECT sum(price_cents) FROM price_history") == 300

    def test_cannot_be_changed_through_what_it_belongs_to(self, database: Database) -> None:
        with pytest.raises(DBAPIError):
            database.do("DELETE FROM listings")
        with pytest.raises(DBAPIError):
            database.do("TRUNCATE listings CASCADE")
        assert database.value("SELECT count(*) FROM price_history") == 3


def test_all_who_miss_a_partition_at_once_get_it(database: Database) -> None:
    """Whoever looks holds the table that whoever makes one needs for himself."""
    together = threading.Barrier(6)
    # One instant for all: a month may end while the test runs.
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
