"""`scrapy simulate`: simulate weeks of crawling the sample marketplace and audit the stored data."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any, ClassVar

from pricewatch.console.project_command import BAD_INPUT, ProjectCommand, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError


class Command(ProjectCommand):
    # Warnings are expected, because the marketplace injects faults; errors are not.
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "ERROR"}

    def short_desc(self) -> str:
        return "Simulate weeks on the sample marketplace and compare the stored data with the truth"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--days", type=float, default=30, help="days to simulate (default: 30)")
        parser.add_argument("--seed", type=int, default=1, help="seed of the simulation (default: 1)")
        parser.add_argument(
            "--listings", type=int, default=1200, metavar="N", help="size of the marketplace (default: 1200)"
        )
        parser.add_argument(
            "--faults",
            type=float,
            default=0.0,
            metavar="SHARE",
            help="share of responses that fail, such as 0.1 (default: 0)",
        )
        parser.add_argument(
            "--habits",
            default="all",
            metavar="all|none|NAME,…",
            help="habits of real shops to simulate, at times chosen by the seed (default: all); "
            "`python -m pricewatch.bazaar --help` lists them",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.days <= 0 or not 0 <= opts.faults < 1:
            print_message("--days takes a number above 0, and --faults a number from 0 to below 1.")
            self.exitcode = BAD_INPUT
            return
        from pricewatch.simulation.habit_plan import ALL

        habits = {"all": ALL, "none": ()}.get(opts.habits, tuple(opts.habits.split(",")))
        if unknown := [name for name in habits if name not in ALL]:
            print_message(f"Unknown habit {unknown[0]!r}. Known: {', '.join(ALL)}.")
            self.exitcode = BAD_INPUT
            return
        opts.habits = habits
        try:
            self._simulate(opts)
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print_message("Stopped; nothing was left behind.")
            self.exitcode = 1

    def _simulate(self, opts: argparse.Namespace) -> None:
        from rich.console import Console
        from rich.progress import Progress

        from pricewatch.bazaar.client import Bazaar
        from pricewatch.simulation.market_simulation import MarketSimulation
        from pricewatch.simulation.workspace import temporary_workspace

        console = Console()
        with (
            temporary_workspace(),
            Bazaar.start(seed=opts.seed, listings=opts.listings, days=int(opts.days) + 2) as bazaar,
            Progress(console=console) as bar,
        ):
            task = bar.add_task(f"{opts.days:g} days", total=1.0)
            settings = settings_of(self).copy()
            month = MarketSimulation(bazaar, settings, fault_rate=opts.faults, habits=opts.habits)
            simulation = month.run(opts.days, opts.seed, lambda share: bar.update(task, completed=share))
            report = run_in_reactor(simulation, settings)
            bar.update(task, completed=1.0)
        _print_report(console, report)
        self.exitcode = 1 if report.verdict.broken else 0


def run_in_reactor(work: Any, settings: Any) -> Any:
    """Run a coroutine in the reactor and return its result; raise `KeyboardInterrupt` if it is stopped."""
    from scrapy.utils.reactor import install_reactor
    from twisted.internet.defer import Deferred
    from twisted.internet.task import react

    install_reactor(settings["TWISTED_REACTOR"], settings["ASYNCIO_EVENT_LOOP"])
    result: list[Any] = []

    async def store_result() -> None:
        result.append(await work)

    try:
        react(lambda _: Deferred.fromFuture(asyncio.ensure_future(store_result())))
    except SystemExit as system_exit:
        if system_exit.code:
            raise
    if not result:
        raise KeyboardInterrupt
    return result[0]


def _print_report(console: Any, report: Any) -> None:
    from rich.table import Table

    from pricewatch.simulation.audit_results import AuditRule

    verdict = report.verdict
    runs = Table("spider and status", "runs", title="Runs")
    for name, count in sorted(report.runs.items()):
        runs.add_row(name, str(count))
    console.print(runs)
    if report.habits:
        _print_habits(console, report)
    table = Table("what must not happen", "checked", "broken", title="Stored data against the truth")
    for rule in AuditRule:
        count = len(verdict.broken.get(rule, []))
        table.add_row(rule, str(verdict.checked[rule]), f"[red]{count}[/red]" if count else "0")
    console.print(table)
    for rule, cases in verdict.broken.items():
        for case in cases[:5]:
            console.print(f"[red]{rule}[/red]: {case}", highlight=False)
    if report.faults:
        console.print(f"{report.faults} responses failed by injected faults.")


def _print_habits(console: Any, report: Any) -> None:
    from rich.table import Table

    table = Table("habit", "from", "duration or extent", title="Habits of the shop")
    for order in report.habits:
        hours = None if order.ends is None else (order.ends - order.begins).total_seconds() / 3600
        extent = (
            "permanent"
            if hours is None
            else f"{hours:.0f} h"
            if hours
            else f"{order.listings or 'all'} listings"
        )
        table.add_row(order.habit, f"{order.begins:%Y-%m-%d %H:%M}", extent)
    console.print(table)
