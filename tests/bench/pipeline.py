"""The way of data: product pages against bare Scrapy, cards against a raw upsert, memory over many pages."""

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
from tests.bench.figure import Figure

MARKET = "bazaar-bikes"
LISTINGS = 24_000
DETAILS, FEW_PAGES, MANY_PAGES = 1500, 500, 2000
ROUNDS = 5
# To read a page costs about as much as to download it; whoever does both is at half the speed.
ONLY_DOWNLOADED = 0.4


class Databases:
    """A server for this benchmark, with as many databases as it takes."""

    def __init__(self, directory: Path) -> None:
        self._server = embedded_postgres.database_url(directory)
        self._made = 0

    def create(self, template: str = "template1") -> str:
        self._made += 1
        name = f"bench_{self._made}"
        self.order(f"CREATE DATABASE {name} TEMPLATE {template}")
        self.order("CHECKPOINT")
        return self._server.replace("/postgres?", f"/{name}?")

    def migrated(self, bazaar: Bazaar) -> str:
        """With one market that shows everything there is, in pages of ninety."""
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

    def order(self, statement: str) -> None:
        engine = create_engine(_driver(self._server), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))


def run() -> list[Figure]:
    with _databases() as databases, Bazaar.start(seed=3, listings=LISTINGS) as bazaar:
        empty = databases.migrated(bazaar)
        return [
            *_cards(databases, empty),
            *_details(databases, empty, bazaar),
        ]


def _cards(databases: Databases, empty: str) -> list[Figure]:
    """A first discovery, and a first sweep, each into an empty database; the baseline in between."""
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
        _compared("cards, first discovery", discovered, "cards/s", raw, bar=0.5),
        _compared("cards, first sweep", swept, "cards/s", raw, bar=0.5),
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


def _details(databases: Databases, empty: str, bazaar: Bazaar) -> list[Figure]:
    """The same pages with everything on and with nothing; the longest crawl is watched for its memory."""
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
        # Once without a watch: the marketplace renders a page when it is first asked for.
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
        marks=[FEW_PAGES, MANY_PAGES],
        arguments={"market": MARKET},
    )
    cost = {kind: median(spent) for kind, spent in cpu.items()}
    few, many = (size / 2**20 for size in long["memory"])
    return [
        _compared(
            "product pages / bare Scrapy that reads them",
            rates["details"],
            "pages/s",
            rates["reading"],
            bar=0.9,
            also=f"CPU {cost['details']:.2f} against {cost['reading']:.2f} ms a page",
        ),
        _compared(
            "product pages / bare Scrapy that only downloads",
            rates["details"],
            "pages/s",
            rates["bare"],
            bar=ONLY_DOWNLOADED,
            also=f"CPU {cost['details']:.2f} against {cost['bare']:.2f} ms a page",
        ),
        Figure(
            f"memory after {MANY_PAGES:,} pages",
            many,
            "MiB",
            few,
            many / few,
            bar=1.15,
            less_is_better=True,
            note=f"against {FEW_PAGES} pages",
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


def _compared(
    name: str,
    measured: list[float],
    unit: str,
    baseline: list[float],
    *,
    bar: float,
    also: str = "",
) -> Figure:
    """Round by round, because what else the machine does changes from one to the next."""
    ratios = [one / other for one, other in zip(measured, baseline, strict=True)]
    note = f"{ROUNDS} rounds: {min(ratios):.2f}–{max(ratios):.2f}" + (f"; {also}" if also else "")
    return Figure(name, median(measured), unit, median(baseline), median(ratios), bar, note=note)


@contextmanager
def _databases() -> Iterator[Databases]:
    with tempfile.TemporaryDirectory(prefix="pw") as place:
        directory = Path(place)
        before = os.environ.pop("DATABASE_URL", None)
        try:
            yield Databases(directory)
        finally:
            embedded_postgres.end(directory)
            if before is not None:
                os.environ["DATABASE_URL"] = before


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg2://")


def _name(url: str) -> str:
    return url.rpartition("?")[0].rpartition("/")[2]
