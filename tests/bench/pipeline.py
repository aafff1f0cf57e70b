"""The data flow: product pages compared with plain Scrapy, cards with a raw upsert, and memory."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from pricewatch.bazaar.client import Bazaar
from pricewatch.store.engine import embedded_postgres
from pricewatch.store.engine.schema import ensure_schema
from pricewatch.store.engine.seed_data import SAMPLE_CATEGORIES
from tests.bench import raw_upsert
from tests.bench.crawling import measure
from tests.bench.metric import Metric

MARKET = "bazaar-bikes"
LISTINGS = 24_000
DETAILS, FEW_PAGES, MANY_PAGES = 1500, 500, 2000
ROUNDS = 5
# Reading a page takes about as long as downloading it, so doing both has about half the speed.
DOWNLOAD_ONLY_LIMIT = 0.4


class Databases:
    """A server for this benchmark, with any number of databases."""

    def __init__(self, directory: Path) -> None:
        self._server = embedded_postgres.database_url(directory)
        self._made = 0

    def create(self, template: str = "template1") -> str:
        self._made += 1
        name = f"bench_{self._made}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        self.execute("CHECKPOINT")
        return self._server.replace("/postgres?", f"/{name}?")

    def migrated(self, bazaar: Bazaar) -> str:
        """Create a database with a schema and one market of all categories."""
        url = self.create()
        engine = create_engine(_driver(url), poolclass=NullPool)
        ensure_schema(engine)
        pages = json.dumps([f"/c/{category}" for category in SAMPLE_CATEGORIES])
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
            )
            connection.execute(
                text("UPDATE markets SET start_pages = CAST(:pages AS jsonb) WHERE id = :id"),
                {"pages": pages, "id": MARKET},
            )
        return url

    def execute(self, statement: str) -> None:
        engine = create_engine(_driver(self._server), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))


def run() -> list[Metric]:
    with _databases() as databases, Bazaar.start(seed=3, listings=LISTINGS) as bazaar:
        empty = databases.migrated(bazaar)
        return [
            *_cards(databases, empty),
            *_details(databases, empty, bazaar),
        ]


def _cards(databases: Databases, empty: str) -> list[Metric]:
    """Measure a first discovery and a first sweep, each into an empty database, and the baseline between."""
    discovered: list[float] = []
    swept: list[float] = []
    raw: list[float] = []
    for _ in range(ROUNDS):
        filled = databases.create(_name(empty))
        discovered.append(_cards_per_second("discovery", filled, max_details=0))
        rows = raw_upsert.read_rows(filled)
        raw.append(raw_upsert.upsert(databases.create(_name(empty)), rows))
        swept.append(
            _cards_per_second("sweep", databases.create(_name(empty)), max_pages=1000, max_details=0)
        )
    return [
        _compare("cards, first discovery", discovered, "cards/s", raw, limit=0.5),
        _compare("cards, first sweep", swept, "cards/s", raw, limit=0.5),
    ]


def _cards_per_second(spider: str, url: str, **arguments: int) -> float:
    measure(spider, url, arguments={"market": MARKET, **{k: str(v) for k, v in arguments.items()}})
    engine = create_engine(_driver(url), poolclass=NullPool)
    with engine.connect() as connection:
        status, cards, seconds = connection.execute(
            text("SELECT status, cards, extract(epoch FROM finished_at - started_at) FROM runs")
        ).one()
    if status != "finished" or cards < LISTINGS * 0.9:
        raise SystemExit(f"the {spider} run {status} after {cards} cards")
    return float(cards) / float(seconds)


def _details(databases: Databases, empty: str, bazaar: Bazaar) -> list[Metric]:
    """Measure the same pages with pricewatch and with plain Scrapy; and the memory of a longer crawl."""
    filled = databases.create(_name(empty))
    measure("discovery", filled, arguments={"market": MARKET, "max_details": "0"})
    urls = [
        f"{bazaar.url}{each.url}"
        for each in bazaar.truth()
        if each.state == "on_sale" and each.markup != "js"
    ]
    rates: dict[str, list[float]] = {"bare": [], "reading": [], "details": []}
    cpu: dict[str, list[float]] = {kind: [] for kind in rates}
    for number in range(ROUNDS):
        part = urls[number * DETAILS : (number + 1) * DETAILS]
        # Not measured: the marketplace renders a page at the first request.
        measure("bare", urls=part)
        copy = databases.create(_name(filled))
        for kind, measured in rates.items():
            arguments = {"market": MARKET} if kind == "details" else {}
            found = measure(kind, copy, urls=part, arguments=arguments)
            measured.append(found["rate"])
            cpu[kind].append(found["cpu_ms"])
        _check_stored(copy, len(part))
    long = measure(
        "details",
        databases.create(_name(filled)),
        urls=urls[:MANY_PAGES],
        memory_at=[FEW_PAGES, MANY_PAGES],
        arguments={"market": MARKET},
    )
    cost = {kind: median(spent) for kind, spent in cpu.items()}
    few, many = (size / 2**20 for size in long["memory"])
    return [
        _compare(
            "product pages, compared with plain Scrapy that reads them",
            rates["details"],
            "pages/s",
            rates["reading"],
            limit=0.9,
            details=f"CPU {cost['details']:.2f} and {cost['reading']:.2f} ms per page",
        ),
        _compare(
            "product pages, compared with plain Scrapy that only downloads",
            rates["details"],
            "pages/s",
            rates["bare"],
            limit=DOWNLOAD_ONLY_LIMIT,
            details=f"CPU {cost['details']:.2f} and {cost['bare']:.2f} ms per page",
        ),
        Metric(
            f"memory after {MANY_PAGES:,} pages",
            many,
            "MiB",
            few,
            many / few,
            limit=1.15,
            less_is_better=True,
            note=f"compared with {FEW_PAGES} pages",
        ),
    ]


def _check_stored(url: str, pages: int) -> None:
    engine = create_engine(_driver(url), poolclass=NullPool)
    with engine.connect() as connection:
        status, details = connection.execute(
            text("SELECT status, details FROM runs ORDER BY id DESC LIMIT 1")
        ).one()
    if status != "finished" or details < 0.99 * pages:
        raise SystemExit(f"the crawl of product pages {status} with {details} of {pages} stored")


def _compare(
    name: str,
    measured: list[float],
    unit: str,
    baseline: list[float],
    *,
    limit: float,
    details: str = "",
) -> Metric:
    """Compare round by round, because the load of the machine changes between rounds."""
    ratios = [one / other for one, other in zip(measured, baseline, strict=True)]
    note = f"{ROUNDS} rounds: {min(ratios):.2f}–{max(ratios):.2f}" + (f"; {details}" if details else "")
    return Metric(name, median(measured), unit, median(baseline), median(ratios), limit, note=note)


@contextmanager
def _databases() -> Iterator[Databases]:
    with tempfile.TemporaryDirectory(prefix="pw") as name:
        directory = Path(name)
        before = os.environ.pop("DATABASE_URL", None)
        try:
            yield Databases(directory)
        finally:
            embedded_postgres.stop_server(directory)
            embedded_postgres.remove_linked_data(directory)
            if before is not None:
                os.environ["DATABASE_URL"] = before


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg2://")


def _name(url: str) -> str:
    return url.rpartition("?")[0].rpartition("/")[2]
