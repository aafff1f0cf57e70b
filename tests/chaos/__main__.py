"""`python -m tests.chaos`: inject faults into a small cluster and check every guarantee."""

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

    from tests.chaos.chaos_run import ChaosReport

NODES = 3
MAX_CASES = 5


def main() -> int:
    opts = _options()
    ranges = (
        (opts.faults, 1, 10_000),
        (opts.minutes, 0.01, 60),
        (opts.nodes, 1, 8),
        (opts.listings, 100, 5000),
    )
    if not all(minimum <= value <= maximum for value, minimum, maximum in ranges):
        print_message(
            "--faults takes 1 to 10000, --minutes up to 60, --nodes 1 to 8, --listings 100 to 5000."
        )
        return BAD_INPUT
    from rich.console import Console

    from pricewatch.simulation.workspace import temporary_workspace

    # As `scrapy` does; child processes inherit it.
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "pricewatch.settings")
    try:
        with temporary_workspace(keep=opts.keep) as directory:
            report = _run(directory, opts)
    except UserError as error:
        print_message(str(error))
        return 1
    except KeyboardInterrupt:
        print_message("Stopped." if opts.keep else "Stopped; nothing was left behind.")
        return 1
    _print_report(Console(), report, opts.seed)
    return 1 if report.broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description="Run a cluster in a temporary directory, inject faults, and check every guarantee. "
        "The exit code is 1 if a guarantee is broken.",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the faults (default: 1)")
    parser.add_argument(
        "--faults", type=int, default=120, metavar="N", help="number of faults (default: 120)"
    )
    parser.add_argument(
        "--minutes", type=float, default=2, metavar="N", help="duration of the faults (default: 2)"
    )
    parser.add_argument(
        "--nodes", type=int, default=NODES, metavar="N", help=f"number of daemons (default: {NODES})"
    )
    parser.add_argument(
        "--listings", type=int, default=240, metavar="N", help="size of the marketplace (default: 240)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the directory to inspect it")
    return parser.parse_args()


def _run(directory: Path, opts: argparse.Namespace) -> ChaosReport:
    from rich.console import Console
    from rich.progress import Progress

    from pricewatch.bazaar.client import Bazaar
    from pricewatch.store.engine.database import engine
    from tests.chaos.chaos_run import ChaosRun
    from tests.chaos.cluster import Cluster

    with (
        Bazaar.start(seed=opts.seed, listings=opts.listings, live=True) as bazaar,
        Progress(console=Console(stderr=True), transient=True) as bar,
    ):
        bazaar.raise_priority()
        task = bar.add_task("starting the database", total=1.0)
        cluster = Cluster(directory, engine(), opts.nodes)

        def progress(step: str, share: float) -> None:
            bar.update(task, completed=share, description=step)

        try:
            return ChaosRun(cluster, bazaar, opts.seed, progress).run(opts.faults, 60 * opts.minutes)
        finally:
            cluster.stop()


def _print_report(console: Console, report: ChaosReport, seed: int) -> None:
    from rich.table import Table

    faults = Table("fault", "number", title=f"Injected faults, seed {seed}")
    faults.columns[1].justify = "right"
    for kind, count in sorted(report.faults.items()):
        faults.add_row(kind, str(count))
    faults.add_section()
    faults.add_row("total", str(report.faults.total()))
    console.print(faults)
    guarantees = Table("guarantee", "checked", "broken", "", title="Guarantees")
    for check in report.checks:
        broken = len(check.broken)
        verdict = "[red]broken[/red]" if broken else "[green]kept[/green]"
        guarantees.add_row(check.guarantee, f"{check.checked:,}", str(broken), verdict)
    console.print(guarantees)
    for check in report.checks:
        for case in check.broken[:MAX_CASES]:
            console.print(f"[red]{check.guarantee}[/red]: {case}", highlight=False)
    colour = "red" if report.broken else "green"
    console.print(f"[{colour}]broken guarantees: {report.broken}[/{colour}]", highlight=False)
    runs = ", ".join(f"{count} {name}" for name, count in sorted(report.runs.items()))
    console.print(f"{report.jobs} jobs; runs: {runs}.", highlight=False)
    console.print(f"{report.failed_responses} responses of the marketplace failed.", highlight=False)
    if report.habits:
        console.print(f"Habits of the shop: {', '.join(report.habits)}.", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
