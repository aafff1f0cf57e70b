"""`scrapy smoke`: does this installation work? Every spider on the sample marketplace, against its truth.

Twice: the second round must add nothing but sightings. Everything happens in a temporary directory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.commands import ScrapyCommand
from scrapy.spiderloader import get_spider_loader

from pricewatch.errors import UserError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from pricewatch.bazaar.client import Bazaar, TruthListing
    from pricewatch.store.reports import RunReport, StoredListing

MARKET, CATEGORY = "bazaar-bikes", "bikes"
SEED, LISTINGS = 11, 500
AVAILABILITY = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK", "sold": "SOLD"}
# In the order in which they run; a new spider is a new line.
ARGUMENTS = {
    "discovery": {"market": MARKET},
    "sweep": {"market": MARKET},
    "verification": {"market": MARKET},
}
# What happens on the marketplace before a spider of the first round.
CHEAPER, GONE = 3, 2
COLUMNS = (
    "pages",
    "cards",
    "new_listings",
    "updated_listings",
    "price_rows",
    "details",
    "quarantined",
    "gone",
)


@dataclass(slots=True)
class Check:
    """One thing that must be as the marketplace says."""

    what: str
    wanted: Any
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.wanted == self.found)


@dataclass(slots=True)
class Round:
    """What one round of all spiders did, and what it left."""

    number: int
    runs: list[RunReport] = field(default_factory=list)
    stored: dict[str, StoredListing] = field(default_factory=dict)
    quarantined: int = 0

    def total(self, counter: str) -> int:
        return sum(getattr(run, counter) for run in self.runs)


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def short_desc(self) -> str:
        return "Check this installation: every spider once, in a temporary directory"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        # Whoever stops us by a signal gets a clean place too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            with _temporary_place():
                rounds, checks = self._two_rounds()
        except UserError as error:
            print(f"pricewatch: {error}", file=sys.stderr)
            self.exitcode = 1
            return
        except KeyboardInterrupt:
            print("pricewatch: stopped; nothing was left behind.", file=sys.stderr)
            self.exitcode = 1
            return
        self.exitcode = _report(rounds, checks)

    def _two_rounds(self) -> tuple[list[Round], list[Check]]:
        from rich.console import Console
        from rich.progress import Progress

        from pricewatch.bazaar.client import Bazaar

        spiders = self._spiders()
        with (
            Bazaar.start(seed=SEED, listings=LISTINGS) as bazaar,
            Progress(console=Console(stderr=True), transient=True) as bar,
        ):
            task = bar.add_task("starting the database", total=2 * len(spiders) + 1)
            _prepare(bazaar)
            offered = {each.url for each in bazaar.truth(CATEGORY) if each.state in AVAILABILITY}
            first = _round(1, spiders, bazaar, bar, task)
            second = _round(2, spiders, bazaar, bar, task)
            return [first, second], [*_check_first(first, bazaar, offered), *_check_second(first, second)]

    def _spiders(self) -> list[str]:
        if self.settings is None:
            raise RuntimeError("scrapy sets this before it runs a command")
        existing = set(get_spider_loader(self.settings).list())
        if unknown := existing - set(ARGUMENTS):
            raise UserError(
                f"smoke does not know how to start {', '.join(sorted(unknown))}: add it to smoke.py."
            )
        return [spider for spider in ARGUMENTS if spider in existing]


@contextmanager
def _temporary_place() -> Iterator[None]:
    """A directory for everything, and no trace of it afterwards, whatever happens."""
    from pricewatch.store import embedded
    from pricewatch.store.database import engine

    before = {name: os.environ.get(name) for name in ("PRICEWATCH_VAR", "DATABASE_URL")}
    directory = Path(tempfile.mkdtemp(prefix="pricewatch-"))
    os.environ["PRICEWATCH_VAR"] = str(directory)
    os.environ.pop("DATABASE_URL", None)
    engine.cache_clear()
    try:
        yield
    finally:
        if engine.cache_info().currsize:
            engine().dispose()
        engine.cache_clear()
        embedded.leave(directory)
        shutil.rmtree(directory, ignore_errors=True)
        for name, value in before.items():
            if value is not None:
                os.environ[name] = value


def _prepare(bazaar: Bazaar) -> None:
    from pricewatch.store.database import engine
    from pricewatch.store.reports import use_site_at

    with engine().begin() as connection:
        use_site_at(connection, "bazaar", bazaar.url)


def _round(number: int, spiders: list[str], bazaar: Bazaar, bar: Progress, task: TaskID) -> Round:
    from pricewatch.store.database import engine
    from pricewatch.store.reports import count_quarantined, last_run, stored_listings

    done = Round(number)
    for spider in spiders:
        bar.update(task, advance=1, description=f"round {number}: {spider}")
        if number == 1 and spider == "sweep":
            _let_things_happen(bazaar)
        _crawl(spider)
        with engine().connect() as connection:
            run = last_run(connection, spider)
        if run is None:
            raise UserError(
                f"The {spider} spider ended without a run: try `scrapy crawl {spider}` to see why."
            )
        done.runs.append(run)
    with engine().connect() as connection:
        done.stored = stored_listings(connection, MARKET)
        done.quarantined = count_quarantined(connection)
    return done


def _let_things_happen(bazaar: Bazaar) -> None:
    """Some get cheaper; some of those whose own page was not read yet are taken down."""
    by_age = sorted(
        (each for each in bazaar.truth(CATEGORY) if each.state == "on_sale" and each.markup != "js"),
        key=lambda each: each.relisted_at or each.listed_at,
    )
    for listing in by_age[:GONE]:
        bazaar.change(listing.id, end="soft")
    for listing in by_age[-CHEAPER:]:
        bazaar.change(listing.id, price=listing.price - listing.price // 10)


def _crawl(spider: str) -> None:
    arguments = [part for name, value in ARGUMENTS[spider].items() for part in ("-a", f"{name}={value}")]
    ended = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        said = (ended.stderr.strip() or "no word").splitlines()[-1].removeprefix("pricewatch: ")
        raise UserError(f"The {spider} spider failed: {said}")


def _check_first(done: Round, bazaar: Bazaar, offered: set[str]) -> list[Check]:
    """What is stored after the first round against what the marketplace shows, and showed."""
    truth = {each.url: each for each in bazaar.truth(CATEGORY)}
    stored = {urlsplit(url).path: listing for url, listing in done.stored.items()}
    shown = {path: listing for path, listing in truth.items() if listing.state in AVAILABILITY}
    shown = {path: listing for path, listing in shown.items() if path in offered and listing.state != "sold"}
    gone = {path for path in offered if truth[path].state == "gone"}
    priced = [path for path in offered if truth[path].mode != "hidden"]
    new = sum(truth[path].state != "sold" for path in offered)
    return [
        Check("runs that finished", len(done.runs), sum(run.status == "finished" for run in done.runs)),
        Check("new listings", new, done.total("new_listings")),
        Check("listings with another price or stock", [], _differences(shown, stored)),
        Check(
            "listings that are gone", sorted(gone), sorted(path for path in stored if not stored[path].active)
        ),
        Check("found gone", len(gone), done.total("gone")),
        Check(
            "price rows",
            len([p for p in priced if truth[p].state != "sold"]) + CHEAPER,
            done.total("price_rows"),
        ),
        Check(
            "rows in the history",
            done.total("price_rows"),
            sum(each.history_rows for each in stored.values()),
        ),
        Check("held in quarantine", 0, done.quarantined),
    ]


def _differences(shown: dict[str, TruthListing], stored: dict[str, StoredListing]) -> list[str]:
    differing = []
    for path, listing in shown.items():
        price = None if listing.mode == "hidden" else listing.price
        mine = stored.get(path)
        if mine is None or (mine.price_cents, mine.availability) != (price, AVAILABILITY[listing.state]):
            differing.append(f"{path}: {price} {listing.state}, stored as {mine and tuple(mine)}")
    return differing


def _check_second(first: Round, second: Round) -> list[Check]:
    """Nothing happened meanwhile, so nothing but sightings is added."""
    known = {url: listing._replace(times_seen=0) for url, listing in first.stored.items()}
    again = {url: listing._replace(times_seen=0) for url, listing in second.stored.items()}
    seen = sum(each.times_seen for each in second.stored.values())
    return [
        Check(
            "second round: runs that finished",
            len(second.runs),
            sum(r.status == "finished" for r in second.runs),
        ),
        Check("second round: new listings", 0, second.total("new_listings")),
        Check("second round: price rows", 0, second.total("price_rows")),
        Check("second round: found gone", 0, second.total("gone")),
        Check(
            "second round: listings that changed", [], sorted(u for u in again if again[u] != known.get(u))
        ),
        Check(
            "second round: seen again", True, seen > sum(each.times_seen for each in first.stored.values())
        ),
        Check("second round: held in quarantine", 0, second.quarantined),
    ]


def _report(rounds: list[Round], checks: list[Check]) -> int:
    from rich.console import Console

    console = Console()
    console.print(_table(rounds))
    failed = [check for check in checks if not check.holds]
    for check in failed:
        console.print(f"[red]{check.what}[/red]: should be {_short(check.wanted)}, is {_short(check.found)}")
    if failed:
        console.print(
            f"[red]{len(failed)} of {len(checks)} figures are not what the marketplace knows.[/red]"
        )
        return 1
    console.print(f"[green]All {len(checks)} figures are what the marketplace knows to be true.[/green]")
    return 0


def _table(rounds: list[Round]) -> Table:
    from rich.table import Table

    table = Table("", "run", "status", *COLUMNS.values(), "s")
    for column in table.columns[3:]:
        column.justify = "right"
    for done in rounds:
        for run in done.runs:
            figures = [str(getattr(run, name)) for name in COLUMNS]
            table.add_row(str(done.number), run.spider, run.status, *figures, f"{run.seconds:.1f}")
        table.add_section()
    return table


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} ({', '.join(map(str, value[:3]))}, …)"
    return str(value)
