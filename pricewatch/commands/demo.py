"""`scrapy demo`: the sample marketplace with some history, and the daemon on it, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from pricewatch import clock
from pricewatch.console.action_command import say
from pricewatch.errors import UserError
from pricewatch.scheduling import daemons

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar

# The history ends here, so that everything is due when the daemon starts.
LEFT_TO_THE_DAEMON = timedelta(hours=6, minutes=30)
WATCHED_PAGES = 5
# Nobody who watches wants to wait for a minute.
SPREAD_SECONDS = 20


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def short_desc(self) -> str:
        return "Show pricewatch at work on its sample marketplace"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--days", type=float, default=3, help="days of history to begin with (default: 3)"
        )
        parser.add_argument("--seed", type=int, default=1, help="another seed, another marketplace")
        parser.add_argument("--port", type=int, default=6800, help="where the daemon answers (default: 6800)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            daemons.check_port(opts.port)
            self._show(opts)
        except UserError as error:
            say(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            say("Stopped before the daemon was started; `scrapy demo` begins anew.")
            self.exitcode = 1

    def _show(self, opts: argparse.Namespace) -> None:
        from pricewatch.bazaar.client import Bazaar
        from pricewatch.store.engine.database import var_directory

        var = var_directory() / "demo"
        shutil.rmtree(var, ignore_errors=True)
        os.environ["PRICEWATCH_VAR"] = str(var)
        os.environ.pop("DATABASE_URL", None)
        os.environ["DISPATCH_SPREAD_SECONDS"] = str(SPREAD_SECONDS)
        begins = clock.now() - timedelta(days=opts.days) - LEFT_TO_THE_DAEMON
        with Bazaar.start(seed=opts.seed, listings=1200, start=begins, live=True) as bazaar:
            self._live(bazaar, opts)
            clock.move(timedelta())
            bazaar.set_clock(clock.now())
            _watch_some_pages(bazaar)
            daemon = f"http://127.0.0.1:{opts.port}"
            print(f"\nThe sample marketplace is at   {bazaar.url}/c/bikes")
            print(f"The daemon is at               {daemon}/")
            print(f"Its jobs are at                {daemon}/jobs")
            print("Within two minutes it runs all four spiders by itself, and goes on as they are due.")
            print("To start one at once, from another shell:")
            order = "-d project=pricewatch -d spider=sweep -d market=bazaar-bikes"
            print(f"  curl {daemon}/schedule.json {order}")
            print("Ctrl-C ends it.\n", flush=True)
            self.exitcode = daemons.watch([daemons.start(var / "daemon.log", port=opts.port)])

    def _live(self, bazaar: object, opts: argparse.Namespace) -> None:
        """Let the days before now go by, so that there is something to look at."""
        from rich.progress import Progress

        from pricewatch.commands.simulate import in_reactor
        from pricewatch.simulation.month import Month

        if self.settings is None:
            raise RuntimeError("scrapy sets this before it runs a command")
        settings = self.settings.copy()
        with Progress() as bar:
            task = bar.add_task(f"Living through {opts.days:g} days of the sample marketplace", total=1.0)
            month = Month(bazaar, settings)  # type: ignore[arg-type]
            in_reactor(
                month.live(opts.days, opts.seed, lambda share: bar.update(task, completed=share)), settings
            )
            bar.update(task, completed=1.0)


def _watch_some_pages(bazaar: Bazaar) -> None:
    """Single pages of the marketplace, to be looked at every five minutes."""
    from pricewatch.parsing.url import canonical_url
    from pricewatch.store.engine.database import engine
    from pricewatch.store.queues import target_rows
    from pricewatch.store.queues.target_rows import NewTarget

    plain = [each for each in bazaar.truth("bikes") if each.state == "on_sale" and each.markup != "js"]
    urls = [f"{bazaar.url}{each.url}" for each in plain[-WATCHED_PAGES:]]
    new = [NewTarget(url, canonical_url(url), schedule="*/5 * * * *") for url in urls]
    with engine().begin() as connection:
        target_rows.add(connection, new, clock.now(), "demo")
