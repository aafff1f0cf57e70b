"""Two rounds of every spider on the sample marketplace: the first finds all, the second adds nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar, TruthListing
from pricewatch.errors import UserError
from pricewatch.parsing.url import canonical_url
from pricewatch.store.engine.database import engine
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.views.stored_reports import (
    RunReport,
    StoredListing,
    count_quarantined,
    last_run,
    stored_listings,
    use_site_at,
)

MARKET, CATEGORY = "bazaar-bikes", "bikes"
SEED, LISTINGS = 11, 500
# In the order in which they run; a new spider is a new line.
ARGUMENTS = {
    "discovery": {"market": MARKET},
    "sweep": {"market": MARKET},
    "verification": {"market": MARKET},
    "targets": {"ids": "1,2,3,4,5"},
}
TARGETS = 5
# Habits of shops under which every figure stays the same.
HABITS = ("beyond_404", "tax_switch", "ab_layout")
# How many get cheaper, and how many are taken down, between the discovery and the sweep of the first round.
CHEAPER, TAKEN_DOWN = 3, 2


@dataclass(slots=True)
class Round:
    """What one round of all spiders did, and what it left."""

    number: int
    runs: list[RunReport] = field(default_factory=list)
    stored: dict[str, StoredListing] = field(default_factory=dict)
    quarantined: int = 0

    def total(self, counter: str) -> int:
        return sum(getattr(run, counter) for run in self.runs)

    def of(self, spider: str, counter: str) -> int:
        return sum(getattr(run, counter) for run in self.runs if run.spider == spider)

    def finished(self) -> int:
        return sum(run.status == "finished" for run in self.runs)


def choose(existing: list[str]) -> list[str]:
    """The spiders to run, in order; one that is not known here is not passed over in silence."""
    if unknown := set(existing) - set(ARGUMENTS):
        raise UserError(f"smoke does not know how to start {', '.join(sorted(unknown))}: add it to its list.")
    return [spider for spider in ARGUMENTS if spider in existing]


def shown(bazaar: Bazaar) -> list[TruthListing]:
    """What the market's pages show now."""
    return [each for each in bazaar.truth(CATEGORY) if each.state in ("on_sale", "out_of_stock")]


def prepare(bazaar: Bazaar) -> None:
    """Tell the source where the marketplace is, how it shows itself, and watch a few of its pages."""
    for habit in HABITS:
        bazaar.habit(habit)
    plain = [each for each in shown(bazaar) if each.state == "on_sale" and each.markup != "js"]
    urls = [f"{bazaar.url}{each.url}" for each in plain[-TARGETS:]]
    with engine().begin() as connection:
        use_site_at(connection, "bazaar", bazaar.url)
        target_rows.add(
            connection, [NewTarget(url, canonical_url(url)) for url in urls], clock.now(), "smoke"
        )


def run_round(number: int, spiders: list[str], bazaar: Bazaar, tell: Callable[[str], None]) -> Round:
    done = Round(number)
    for spider in spiders:
        tell(f"round {number}: {spider}")
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
    """The newest get cheaper; the oldest, whose own pages were not read yet, are taken down."""
    by_age = sorted(
        (each for each in shown(bazaar) if each.state == "on_sale" and each.markup != "js"),
        key=lambda each: each.relisted_at or each.listed_at,
    )
    for listing in by_age[:TAKEN_DOWN]:
        bazaar.change(listing.id, end="soft")
    for listing in by_age[-CHEAPER:]:
        bazaar.change(listing.id, price=listing.price - listing.price // 10)


def _crawl(spider: str) -> None:
    """As a person would, from the shell."""
    arguments = [part for name, value in ARGUMENTS[spider].items() for part in ("-a", f"{name}={value}")]
    ended = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        said = (ended.stderr.strip() or "it said nothing").splitlines()[-1].removeprefix("pricewatch: ")
        raise UserError(f"The {spider} spider failed: {said}")
