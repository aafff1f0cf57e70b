"""Crawls in quick succession, with a clock that tests move together with the marketplace's clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.crawler import Crawler

# Retry delays are tested elsewhere.
QUICK_RETRIES = {"RETRY_FIRST_DELAY": 0.05, "RETRY_LONGEST_DELAY": 0.2}


class World:
    """A marketplace, a database and crawls, with the same clock."""

    def __init__(self, marketplace: Any, database: Any, crawler: Crawler) -> None:
        self.bazaar = marketplace
        self.database = database
        self.crawler = crawler
        self.market = "bazaar-bikes"

    def advance(self, **span: float) -> None:
        self.bazaar.advance(**span)

    def crawl(self, spider: str, /, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
        # The marketplace's clock stands still during a crawl, so move it past the end of the last one.
        self.advance(seconds=30)
        return self.crawler(
            spider,
            database_url=self.database.url,
            ahead=self.bazaar.now() - datetime.now(UTC),
            settings={**QUICK_RETRIES, **(settings or {})},
            **{"market": self.market, **arguments},
        )

    def set_market(self, **columns: Any) -> None:
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        self.database.do(f"UPDATE markets SET {assignments} WHERE id = :id", id=self.market, **columns)

    def listing(self, true: Any) -> Any:
        return self.database.row("SELECT * FROM listings WHERE canonical_url LIKE :url", url=f"%{true.url}")

    def make_unseen(self, true: Any, **ago: float) -> None:
        """Make a listing unseen for this long."""
        moment = self.bazaar.now() - timedelta(**ago)
        self.database.do(
            "UPDATE listings SET last_seen_at = :at WHERE canonical_url LIKE :url",
            at=moment,
            url=f"%{true.url}",
        )

    def methods_used(self, path: str) -> list[str]:
        """Return the methods of all requests for a path, in order."""
        return [entry.method for entry in self.bazaar.log() if entry.path.split("?")[0] == path]

    def metric(self, name: str, *labels: str) -> float:
        """Return the value of a metric with these labels over all runs."""
        counted = "SELECT key, value FROM run_figures UNION ALL SELECT key, value FROM figures"
        value = self.database.value(
            f"SELECT coalesce(sum(value), 0) FROM ({counted}) f WHERE key LIKE :key",
            key=f"%{'|'.join((name, *labels))}",
        )
        return float(value)

    def on_sale(self) -> list[Any]:
        return [
            true for true in self.bazaar.truth("bikes") if true.state == "on_sale" and true.markup != "js"
        ]


@pytest.fixture(scope="session")
def crawler() -> Iterator[Crawler]:
    running = Crawler()
    yield running
    running.close()


@pytest.fixture
def world(marketplace: Any, database: Any, crawler: Crawler) -> World:
    return World(marketplace, database, crawler)
