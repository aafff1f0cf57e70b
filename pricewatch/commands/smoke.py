"""`scrapy smoke`: does this installation work? Every spider on the sample marketplace, against its truth."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader

from pricewatch.console.project_command import ProjectCommand
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
        return "Check this installation: every spider once, in a temporary directory"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.simulation.workspace import temporary_workspace

        try:
            with temporary_workspace():
                rounds, checks = self._two_rounds()
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print_message("Stopped; nothing was left behind.")
            self.exitcode = 1
        else:
            self.exitcode = _report(rounds, checks)
            self._tell_browser()

    def _tell_browser(self) -> None:
        from pricewatch.commands.browser import configured_path
        from pricewatch.fetching.browser.chromium import working_chromium
        from pricewatch.fetching.failures import NoBrowser

        try:
            print(f"Browser: {working_chromium(configured_path(self))}")
        except NoBrowser as missing:
            print(f"No browser: {missing}. Only sites that need JavaScript need one.")

    def _two_rounds(self) -> tuple[list[Round], list[SmokeCheck]]:
        from rich.console import Console
        from rich.progress import Progress

        from pricewatch.bazaar.client import Bazaar
        from pricewatch.simulation import smoke_rounds
        from pricewatch.simulation.smoke_checks import check_first, check_second

        if self.settings is None:
            raise RuntimeError("scrapy sets this before it runs a command")
        spiders = smoke_rounds.choose(get_spider_loader(self.settings).list())
        with (
            Bazaar.start(seed=smoke_rounds.SEED, listings=smoke_rounds.LISTINGS) as bazaar,
            Progress(console=Console(stderr=True), transient=True) as bar,
        ):
            task = bar.add_task("starting the database", total=2 * len(spiders) + 1)

            def tell(what: str) -> None:
                bar.update(task, advance=1, description=what)

            smoke_rounds.prepare(bazaar)
            before = smoke_rounds.shown(bazaar)
            first = smoke_rounds.run_round(1, spiders, bazaar, tell)
            second = smoke_rounds.run_round(2, spiders, bazaar, tell)
            checks = [*check_first(first, before, smoke_rounds.shown(bazaar)), *check_second(first, second)]
        return [first, second], checks


def _report(rounds: list[Round], checks: list[SmokeCheck]) -> int:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("", "run", *COLUMNS.values(), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.columns[1].no_wrap = True
    for column in table.columns[2:]:
        column.justify = "right"
    for done in rounds:
        for run in done.runs:
            figures = [str(getattr(run, name)) for name in COLUMNS]
            table.add_row(str(done.number), run.spider, *figures)
        table.add_section()
    console.print(table)
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


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} ({', '.join(map(str, value[:3]))}, …)"
    return str(value)
