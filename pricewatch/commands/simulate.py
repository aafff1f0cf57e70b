"""`scrapy simulate`: how the spiders fare over weeks, shown in a minute on the sample marketplace."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from scrapy.commands import ScrapyCommand

from pricewatch.console.project_command import BAD_INPUT
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    # Trouble that a crawl did not expect is shown; faults on order are its daily bread.
    default_settings = {"LOG_LEVEL": "ERROR"}  # noqa: RUF012 - declared so by scrapy

    def short_desc(self) -> str:
        return "Live through weeks of the sample marketplace and compare with its truth"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--days", type=float, default=30, help="how long to simulate (default: 30)")
        parser.add_argument("--seed", type=int, default=1, help="another seed, another month")
        parser.add_argument(
            "--listings", type=int, default=1200, help="size of the marketplace (default: 1200)"
        )
        parser.add_argument(
            "--faults",
            type=float,
            default=0.0,
            metavar="SHARE",
            help="let this share of answers fail, e.g. 0.1",
        )

        parser.add_argument(
            "--habits",
            default="all",
            metavar="all|none|NAME,…",
            help="which habits of real shops come, at times that the seed decides (default: all); "
            "`python -m pricewatch.bazaar --help` lists them",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.days <= 0 or not 0 <= opts.faults < 1:
            print_message("--days is more than 0, and --faults from 0 to below 1.")
            self.exitcode = BAD_INPUT
            return
        from pricewatch.simulation.habit_plan import ALL

        habits = {"all": ALL, "none": ()}.get(opts.habits, tuple(opts.habits.split(",")))
        if unknown := [name for name in habits if name not in ALL]:
            print_message(f"There is no habit {unknown[0]!r}. Known: {', '.join(ALL)}.")
            self.exitcode = BAD_INPUT
            return
        opts.habits = habits
        try:
            self._live(opts)
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print_message("Stopped; nothing was left behind.")
            self.exitcode = 1

    def _live(self, opts: argparse.Namespace) -> None:
        from rich.console import Console
        from rich.progress import Progress

        from pricewatch.bazaar.client import Bazaar
        from pricewatch.simulation.month import Month
        from pricewatch.simulation.workspace import temporary_workspace

        console = Console()
        with (
            temporary_workspace(),
            Bazaar.start(seed=opts.seed, listings=opts.listings, days=int(opts.days) + 2) as bazaar,
            Progress(console=console) as bar,
        ):
            task = bar.add_task(f"{opts.days:g} days", total=1.0)
            settings = self._settings()
            month = Month(bazaar, settings, fault_rate=opts.faults, habits=opts.habits)
            living = month.live(opts.days, opts.seed, lambda share: bar.update(task, completed=share))
            report = in_reactor(living, settings)
            bar.update(task, completed=1.0)
        _print(console, report)
        self.exitcode = 1 if report.verdict.broken else 0

    def _settings(self) -> Any:
        if self.settings is None:
            raise RuntimeError("scrapy sets this before it runs a command")
        return self.settings.copy()


def in_reactor(work: Any, settings: Any) -> Any:
    """What comes of the work; raises `KeyboardInterrupt` where somebody stopped it."""
    from scrapy.utils.reactor import install_reactor
    from twisted.internet.defer import Deferred
    from twisted.internet.task import react

    install_reactor(settings["TWISTED_REACTOR"], settings["ASYNCIO_EVENT_LOOP"])
    result: list[Any] = []

    async def keep() -> None:
        result.append(await work)

    try:
        react(lambda _: Deferred.fromFuture(asyncio.ensure_future(keep())))
    except SystemExit as end:
        if end.code:
            raise
    if not result:
        raise KeyboardInterrupt
    return result[0]


def _print(console: Any, report: Any) -> None:
    from rich.table import Table

    from pricewatch.simulation.store_audit import AuditRule

    verdict = report.verdict
    runs = Table("runs", "number", title="What ran")
    for name, count in sorted(report.runs.items()):
        runs.add_row(name, str(count))
    console.print(runs)
    if report.habits:
        _print_habits(console, report)
    table = Table("compared with the marketplace's truth", "checked", "broken", title="What came of it")
    for rule in AuditRule:
        count = len(verdict.broken.get(rule, []))
        table.add_row(rule, str(verdict.checked[rule]), f"[red]{count}[/red]" if count else "0")
    console.print(table)
    for rule, cases in verdict.broken.items():
        for case in cases[:5]:
            console.print(f"[red]{rule}[/red]: {case}", highlight=False)
    if report.faults:
        console.print(f"{report.faults} answers failed on order.")


def _print_habits(console: Any, report: Any) -> None:
    from rich.table import Table

    table = Table("habit", "from", "for", title="What the shop did")
    for order in report.habits:
        hours = None if order.ends is None else (order.ends - order.begins).total_seconds() / 3600
        lasted = (
            "good" if hours is None else f"{hours:.0f} h" if hours else f"{order.listings or 'all'} listings"
        )
        table.add_row(order.habit, f"{order.begins:%d.%m. %H:%M}", lasted)
    console.print(table)
