"""`scrapy smoke`: check this installation by running every spider on the sample marketplace."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader

from pricewatch.console.project_command import ProjectCommand, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError

if TYPE_CHECKING:
    from pricewatch.simulation.smoke_checks import SmokeCheck
    from pricewatch.simulation.smoke_rounds import Round

COLUMNS = {
    "pages": "pages",
    "cards": "cards",
    "new_listings": "new",
    "updated_listings": "updated",
    "price_rows": "price\nrows",
    "details": "details",
    "quarantined": "quarantined",
    "gone": "gone",
}


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Check this installation: run every spider on the sample marketplace, in a temporary directory"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.simulation.workspace import temporary_workspace

        try:
            with temporary_workspace():
                rounds, checks = self._run_rounds()
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print_message("Stopped; nothing was left behind.")
            self.exitcode = 1
        else:
            self.exitcode = _print_report(rounds, checks)
            self._print_browser()

    def _print_browser(self) -> None:
        from pricewatch.fetching.browser.chromium import usable_chromium
        from pricewatch.fetching.failures import NoBrowser

        try:
            print(f"Browser: {usable_chromium(settings_of(self))}")
        except NoBrowser as missing:
            print(f"No browser: {missing}. Only sites that need JavaScript need one.")

    def _run_rounds(self) -> tuple[list[Round], list[SmokeCheck]]:
        from rich.console import Console
        from rich.progress import Progress

        from pricewatch.bazaar.client import Bazaar
        from pricewatch.simulation import smoke_rounds
        from pricewatch.simulation.smoke_checks import check_first, check_second

        spiders = smoke_rounds.choose(get_spider_loader(settings_of(self)).list())
        with (
            Bazaar.start(seed=smoke_rounds.SEED, listings=smoke_rounds.LISTINGS) as bazaar,
            Progress(console=Console(stderr=True), transient=True) as bar,
        ):
            task = bar.add_task("starting the database", total=2 * len(spiders) + 1)

            def progress(step: str) -> None:
                bar.update(task, advance=1, description=step)

            smoke_rounds.prepare(bazaar)
            before = smoke_rounds.visible_listings(bazaar)
            first = smoke_rounds.run_round(1, spiders, bazaar, progress)
            second = smoke_rounds.run_round(2, spiders, bazaar, progress)
            after = smoke_rounds.visible_listings(bazaar)
            checks = [*check_first(first, before, after), *check_second(first, second)]
        return [first, second], checks


def _print_report(rounds: list[Round], checks: list[SmokeCheck]) -> int:
    """Print the counters of all runs and the checks that failed; return the exit code."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("", "run", *COLUMNS.values(), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.columns[1].no_wrap = True
    for column in table.columns[2:]:
        column.justify = "right"
    for each in rounds:
        for run in each.runs:
            counters = [str(getattr(run, name)) for name in COLUMNS]
            table.add_row(str(each.number), run.spider, *counters)
        table.add_section()
    console.print(table)
    failed = [check for check in checks if not check.holds]
    for check in failed:
        console.print(
            f"[red]{check.name}[/red]: expected {_short(check.expected)}, found {_short(check.found)}"
        )
    if failed:
        console.print(f"[red]{len(failed)} of {len(checks)} checks failed.[/red]")
        return 1
    console.print(f"[green]All {len(checks)} checks passed.[/green]")
    return 0


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} ({', '.join(map(str, value[:3]))}, …)"
    return str(value)
