"""`scrapy migrate`: prints what it did and to which database."""

from __future__ import annotations

from pricewatch.store.engine.schema import REVISION
from tests.conftest import Crawl
from tests.databases import Database


def test_second_migration_changes_nothing(empty_database: Database, crawl: Crawl) -> None:
    first, second = (crawl.command("migrate", DATABASE_URL=empty_database.url).end() for _ in range(2))
    assert first.stdout.startswith(f"Schema {REVISION} is now in place at postgresql://")
    assert second.stdout.startswith(f"Schema {REVISION} was already in place at postgresql://")
    assert (first.returncode, second.returncode, first.stderr, second.stderr) == (0, 0, "", "")
    assert empty_database.value("SELECT count(*) > 20 FROM markets")


def test_database_of_an_older_development_version_is_refused_in_one_sentence(
    database: Database, crawl: Crawl
) -> None:
    database.do("UPDATE alembic_version SET version_num = '0007'")
    outcome = crawl.command("migrate").end()
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert outcome.stderr == (
        "pricewatch: This database was made by a development version (schema 0007) that this release cannot"
        " upgrade. Export what you need, then start with an empty database.\n"
    )
