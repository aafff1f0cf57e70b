"""`scrapy migrate`."""

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
