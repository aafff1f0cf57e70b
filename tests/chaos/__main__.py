"""`python -m tests.chaos`: a small cluster, a hundred faults, and whether every promise still holds."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pricewatch.console.project_command import BAD_INPUT
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from tests.chaos.conductor import Report

NODES = 3
SHOWN = 5


def main() -> int:
    opts = _options()
    sizes = (
        (opts.faults, 1, 10_000),
        (opts.minutes, 0.01, 60),
        (opts.nodes, 1, 8),
        (opts.listings, 100, 5000),
    )
    if not all(least <= given <= most for given, least, most in sizes):
        print_message(
            "--faults takes 1 to 10000, --minutes up to 60, --nodes 1 to 8, --listings 100 to 5000."
        )
        return BAD_INPUT
    from rich.console import Console

    from pricewatch.simulation.workspace import temporary_workspace

    # As `scrapy` does for its commands; the processes that are started here inherit it.
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "pricewatch.settings")
    try:
        with temporary_workspace(keep=opts.keep) as place:
            report = _live(place, opts)
    except UserError as error:
        print_message(str(error))
        return 1
    except KeyboardInterrupt:
        print_message(
            f"Stopped; everything is left in {place}." if opts.keep else "Stopped; nothing was left behind."
        )
        return 1
    _print(Console(), report, opts.seed)
    return 1 if report.broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description="Run a cluster through faults, in a temporary directory, and check every promise.",
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed, other faults (default: 1)")
    parser.add_argument("--faults", type=int, default=120, help="how many (default: 120)")
    parser.add_argument("--minutes", type=float, default=2, help="over how long they are spread (default: 2)")
    parser.add_argument("--nodes", type=int, default=NODES, help=f"how many daemons (default: {NODES})")
    parser.add_argument("--listings", type=int, default=240, help="size of the marketplace (default: 240)")
    parser.add_argument("--keep", action="store_true", help="keep the directory, to inspect it")
    return parser.parse_args()


def _live(place: Path, opts: argparse.Namespace) -> Report:
    from rich.console import Console
    from rich.progress import Progress

    from pricewatch.bazaar.client import Bazaar
    from pricewatch.store.engine.database import engine
    from tests.chaos.cluster import Cluster
    from tests.chaos.conductor import Conductor

    with (
        Bazaar.start(seed=opts.seed, listings=opts.listings, live=True) as bazaar,
        Progress(console=Console(stderr=True), transient=True) as bar,
    ):
        bazaar.raise_priority()
        task = bar.add_task("starting the database", total=1.0)
        cluster = Cluster(place, engine(), opts.nodes)

        def tell(what: str, share: float) -> None:
            bar.update(task, completed=share, description=what)

        try:
            return Conductor(cluster, bazaar, opts.seed, tell).run(opts.faults, 60 * opts.minutes)
        finally:
            cluster.stop()


def _print(console: Console, report: Report, seed: int) -> None:
    from rich.table import Table

    faults = Table("fault", "number", title=f"What went wrong, by seed {seed}")
    faults.columns[1].justify = "right"
    for kind, count in sorted(report.faults.items()):
        faults.add_row(kind, str(count))
    faults.add_section()
    faults.add_row("all", str(report.faults.total()))
    console.print(faults)
    promises = Table("promise", "checked", "broken", "", title="What came of it")
    for check in report.checks:
        broken = len(check.broken)
        verdict = "[red]broken[/red]" if broken else "[green]survived[/green]"
        promises.add_row(check.promise, f"{check.checked:,}", str(broken), verdict)
    console.print(promises)
    for check in report.checks:
        for what in check.broken[:SHOWN]:
            console.print(f"[red]{check.promise}[/red]: {what}", highlight=False)
    colour = "red" if report.broken else "green"
    console.print(f"[{colour}]broken promises: {report.broken}[/{colour}]", highlight=False)
    ends = ", ".join(f"{count} {name}" for name, count in sorted(report.runs.items()))
    console.print(f"{report.jobs} jobs; runs: {ends}.", highlight=False)
    console.print(f"{report.answers_spoilt} answers of the marketplace were spoilt.", highlight=False)
    if report.habits:
        console.print(f"Habits that the shop took on: {', '.join(report.habits)}.", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
