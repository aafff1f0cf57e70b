"""`scrapy demo`: run the sample marketplace with some days of history, and a daemon on it, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

from pricewatch import clock
from pricewatch.console.project_command import ProjectCommand, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.scheduling import daemons

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar

# The history ends this long before now, so that everything is due when the daemon starts.
HISTORY_ENDS_BEFORE = timedelta(hours=6, minutes=30)
TARGETS = 5
# Shorter than the default, so that the first jobs start soon.
SPREAD_SECONDS = 20


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Run pricewatch on its sample marketplace, with a daemon and some history"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--days", type=float, default=3, help="days of history to simulate first (default: 3)"
        )
        parser.add_argument("--seed", type=int, default=1, help="seed of the marketplace (default: 1)")
        parser.add_argument("--port", type=int, default=6800, help="port of the daemon (default: 6800)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            daemons.check_port(opts.port)
            self._run_demo(opts)
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print_message("Stopped before the daemon started. Run `scrapy demo` to start over.")
            self.exitcode = 1

    def _run_demo(self, opts: argparse.Namespace) -> None:
        from pricewatch.bazaar.client import Bazaar
        from pricewatch.store.engine import embedded_postgres
        from pricewatch.store.engine.database import var_directory
        from pricewatch.store.engine.private_files import private_directory

        var = private_directory(var_directory()) / "demo"
        embedded_postgres.remove_linked_data(var)
        shutil.rmtree(var, ignore_errors=True)
        os.environ["PRICEWATCH_VAR"] = str(var)
        os.environ.pop("DATABASE_URL", None)
        os.environ["DISPATCH_SPREAD_SECONDS"] = str(SPREAD_SECONDS)
        begins = clock.now() - timedelta(days=opts.days) - HISTORY_ENDS_BEFORE
        with Bazaar.start(seed=opts.seed, listings=1200, start=begins, live=True) as bazaar:
            self._simulate_history(bazaar, opts)
            clock.move(timedelta())
            bazaar.set_clock(clock.now())
            _add_targets(bazaar)
            daemon = f"http://127.0.0.1:{opts.port}"
            print(f"\nSample marketplace: {bazaar.url}/c/bikes")
            print(f"Daemon:             {daemon}/")
            print(f"Jobs:               {daemon}/jobs")
            print("The daemon starts all four spiders within two minutes, and again when they are due.")
            print("To start one now, run this in another shell:")
            fields = "-d project=pricewatch -d spider=sweep -d market=bazaar-bikes"
            print(f"  curl {daemon}/schedule.json {fields}")
            self._print_missing_browser()
            print("Press Ctrl-C to stop.\n", flush=True)
            self.exitcode = daemons.watch([daemons.start(var / "daemon.log", port=opts.port)])

    def _print_missing_browser(self) -> None:
        from pricewatch.fetching.browser.chromium import usable_chromium
        from pricewatch.fetching.failures import NoBrowser

        try:
            usable_chromium(settings_of(self))
        except NoBrowser as missing:
            print(f"No browser: {missing}. Pages that scripts build are read without it.")

    def _simulate_history(self, bazaar: Bazaar, opts: argparse.Namespace) -> None:
        """Simulate the days before now, so that the pages have something to show."""
        from rich.progress import Progress

        from pricewatch.commands.simulate import run_in_reactor
        from pricewatch.simulation.market_simulation import MarketSimulation

        settings = settings_of(self).copy()
        with Progress() as bar:
            task = bar.add_task(f"Simulating {opts.days:g} days of the sample marketplace", total=1.0)
            month = MarketSimulation(bazaar, settings)
            run_in_reactor(
                month.run(opts.days, opts.seed, lambda share: bar.update(task, completed=share)), settings
            )
            bar.update(task, completed=1.0)


def _add_targets(bazaar: Bazaar) -> None:
    """Add some pages of the marketplace as targets, due every five minutes."""
    from pricewatch.parsing.url import canonical_url
    from pricewatch.store.engine.database import engine
    from pricewatch.store.queues import target_rows
    from pricewatch.store.queues.target_rows import NewTarget

    static = [each for each in bazaar.truth("bikes") if each.state == "on_sale" and each.markup != "js"]
    urls = [f"{bazaar.url}{each.url}" for each in static[-TARGETS:]]
    new = [NewTarget(url, canonical_url(url), schedule="*/5 * * * *") for url in urls]
    with engine().begin() as connection:
        target_rows.add(connection, new, clock.now(), "demo")
