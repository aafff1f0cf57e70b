"""`scrapy demo`: the sample marketplace with some history, and the daemon on it, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from scrapy.commands import ScrapyCommand

from pricewatch import clock
from pricewatch.errors import UserError

DAEMON_PORT = 6800


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

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.bazaar.client import Bazaar
        from pricewatch.store.database import var_directory

        try:
            _check_port(DAEMON_PORT)
        except UserError as error:
            print(f"pricewatch: {error}", file=sys.stderr)
            self.exitcode = 1
            return
        var = var_directory() / "demo"
        shutil.rmtree(var, ignore_errors=True)
        os.environ["PRICEWATCH_VAR"] = str(var)
        os.environ.pop("DATABASE_URL", None)
        begins = clock.now() - timedelta(days=opts.days)
        with Bazaar.start(seed=opts.seed, listings=1200, start=begins, live=True) as bazaar:
            self._live(bazaar, opts)
            clock.move(timedelta())
            bazaar.set_clock(clock.now())
            print(f"\nThe sample marketplace is at   {bazaar.url}/c/bikes")
            print(f"The daemon is at               http://127.0.0.1:{DAEMON_PORT}/")
            print("Start a crawl from another shell, for example:")
            order = "-d project=pricewatch -d spider=sweep -d market=bazaar-bikes"
            print(f"  curl http://127.0.0.1:{DAEMON_PORT}/schedule.json {order}")
            print("Ctrl-C ends it.\n", flush=True)
            self.exitcode = _serve(var)

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


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise UserError(
                f"Port {port} is in use, perhaps by another daemon: end that one, "
                "or change http_port in scrapyd.conf."
            ) from None


def _serve(var: Path) -> int:
    daemon = subprocess.Popen(
        [sys.executable, "-m", "scrapyd", "--logfile", str(var / "daemon.log")],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH")))),
        },
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return daemon.wait()
    except KeyboardInterrupt:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(30)
        return 0
