"""The two rounds of the smoke test: the first stores everything, the second must add nothing."""

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
    set_base_url,
    stored_listings,
)

MARKET, CATEGORY = "bazaar-bikes", "bikes"
SEED, LISTINGS = 11, 500
# The spiders in the order in which they run, with their arguments.
ARGUMENTS = {
    "discovery": {"market": MARKET},
    "sweep": {"market": MARKET},
    "verification": {"market": MARKET},
    "targets": {"ids": "1,2,3,4,5"},
}
TARGETS = 5
# Habits that do not change any expected value.
HABITS = ("beyond_404", "tax_switch", "ab_layout")
# Listings that get cheaper or are removed between the discovery and the sweep of the first round.
CHEAPER, REMOVED = 3, 2


@dataclass(slots=True)
class Round:
    """One run of every spider, and what is stored afterwards."""

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
    """Return the spiders to run, in order; raise `UserError` for a spider without arguments here."""
    if unknown := set(existing) - set(ARGUMENTS):
        raise UserError(
            f"smoke has no arguments for the spider {', '.join(sorted(unknown))}: add them to ARGUMENTS."
        )
    return [spider for spider in ARGUMENTS if spider in existing]


def visible_listings(bazaar: Bazaar) -> list[TruthListing]:
    """Return the listings that the pages of the market show now."""
    return [each for each in bazaar.truth(CATEGORY) if each.state in ("on_sale", "out_of_stock")]


def prepare(bazaar: Bazaar) -> None:
    """Set the habits of the marketplace, point its source at it, and add some targets."""
    for habit in HABITS:
        bazaar.habit(habit)
    urls = [f"{bazaar.url}{each.url}" for each in _static_pages(bazaar)[-TARGETS:]]
    with engine().begin() as connection:
        set_base_url(connection, "bazaar", bazaar.url)
        target_rows.add(
            connection, [NewTarget(url, canonical_url(url)) for url in urls], clock.now(), "smoke"
        )


def run_round(number: int, spiders: list[str], bazaar: Bazaar, progress: Callable[[str], None]) -> Round:
    done = Round(number)
    for spider in spiders:
        progress(f"round {number}: {spider}")
        if number == 1 and spider == "sweep":
            _change_listings(bazaar)
        _crawl(spider)
        with engine().connect() as connection:
            run = last_run(connection, spider)
        if run is None:
            raise UserError(
                f"The {spider} spider ended without a run. Run `scrapy crawl {spider}` to see why."
            )
        done.runs.append(run)
    with engine().connect() as connection:
        done.stored = stored_listings(connection, MARKET)
        done.quarantined = count_quarantined(connection)
    return done


def _change_listings(bazaar: Bazaar) -> None:
    """Reduce the price of the newest listings, and remove the oldest, whose pages are not read yet."""
    by_age = sorted(_static_pages(bazaar), key=lambda each: each.relisted_at or each.listed_at)
    for listing in by_age[:REMOVED]:
        bazaar.change(listing.id, end="soft")
    for listing in by_age[-CHEAPER:]:
        bazaar.change(listing.id, price=listing.price - listing.price // 10)


def _static_pages(bazaar: Bazaar) -> list[TruthListing]:
    """Return the listings on sale whose pages need no JavaScript."""
    return [each for each in visible_listings(bazaar) if each.state == "on_sale" and each.markup != "js"]


def _crawl(spider: str) -> None:
    """Run the command that a user would run."""
    arguments = [part for name, value in ARGUMENTS[spider].items() for part in ("-a", f"{name}={value}")]
    ended = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        reason = (ended.stderr.strip() or "it printed nothing").splitlines()[-1].removeprefix("pricewatch: ")
        raise UserError(f"The {spider} spider failed: {reason}")
