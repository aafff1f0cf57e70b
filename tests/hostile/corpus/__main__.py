"""Read the corpus of hostile pages, and report what was accepted, refused, slow and large.

    python -m tests.hostile.corpus [--only KIND] [--count N] [--list]

Every page must be read without an exception, within the deadline and the limit of memory, and no price may be
accepted that the page does not show. The exit status is 1 if a page broke a rule.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tests.hostile.corpus import (
    amounts,
    characters,
    charsets,
    item_data,
    json_ld,
    lies,
    markup,
    measuring,
    packed,
    site_pages,
)
from tests.hostile.corpus.hostile_page import KINDS, HostilePage, pages_of
from tests.hostile.corpus.measuring import Measurement

FAMILIES = (markup, characters, charsets, packed, json_ld, item_data, amounts, lies, site_pages)
SLOWEST = 10


def chosen_pages(only: list[str], count: int | None) -> list[HostilePage]:
    """The pages of some kinds, or of all; with `count`, that many, spread over every kind."""
    kinds = [list(pages_of(name)) for name in KINDS if not only or name in only]
    total = sum(map(len, kinds))
    if count is None or count >= total:
        return list(chain.from_iterable(kinds))
    return list(chain.from_iterable(_spread(pages, max(1, len(pages) * count // total)) for pages in kinds))


def _spread(pages: list[HostilePage], number: int) -> list[HostilePage]:
    return [pages[index * len(pages) // number] for index in range(number)]


def report(measured: list[Measurement], console: Console) -> None:
    by_kind: defaultdict[str, list[Measurement]] = defaultdict(list)
    for one in measured:
        by_kind[one.page.kind].append(one)
    table = Table("kind", "pages", "accepted", "refused", "slowest", box=None, pad_edge=False)
    for name, ones in by_kind.items():
        outcomes = Counter(one.outcome for one in ones)
        accepted = outcomes.pop("accepted", 0)
        refused = ", ".join(f"{number} {reason}" for reason, number in outcomes.most_common())
        slowest = max(one.seconds for one in ones)
        table.add_row(name, str(len(ones)), str(accepted), refused, f"{slowest:.2f} s")
    console.print(table)
    console.print(f"\nThe slowest {SLOWEST} pages, CPU time of one reading")
    for one in sorted(measured, key=lambda one: -one.seconds)[:SLOWEST]:
        console.print(
            f"{one.seconds:7.2f} s   {one.page.label} ({one.slowest_step}, {one.result.size:,} bytes)"
        )
    console.print(f"\nThe {SLOWEST} pages with the highest memory")
    for one in sorted(measured, key=lambda one: -one.megabytes)[:SLOWEST]:
        console.print(f"{one.megabytes:6.0f} MB   {one.page.label} ({one.result.size:,} bytes)")
    kept = sum(1 for one in measured if not one.broken_rules())
    ended = sum(1 for one in measured if one.seconds > measuring.DEADLINE)
    console.print(
        f"\n{len(measured)} pages of {len(by_kind)} kinds, {kept} kept every rule. Limits: {measuring.DEADLINE:.0f} s"
        f" and {measuring.MAX_MEGABYTES} MB; {measuring.PROCESS_DEADLINE:.0f} s in a reader process, with its imports."
        f" {ended} pages took over {measuring.DEADLINE:.0f} s, each in a reader process."
    )


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.hostile.corpus", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", action="append", default=[], metavar="KIND", help="read only this kind; may be repeated"
    )
    parser.add_argument("--count", type=int, metavar="N", help="read about N pages, spread over all kinds")
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes at a time (default: one per core)",
    )
    parser.add_argument("--list", action="store_true", help="list the kinds and the number of pages of each")
    options = parser.parse_args(list(arguments))
    if unknown := [name for name in options.only if name not in KINDS]:
        parser.error(f"unknown kind {unknown[0]!r}. Known: {', '.join(KINDS)}")
    if options.list:
        for name in KINDS:
            print(f"{sum(1 for _ in pages_of(name)):5d}  {name}")
        return 0
    pages = chosen_pages(options.only, options.count)
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False, emoji=False)
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("Reading hostile pages", total=len(pages))
        measured = []
        for one in measuring.measure(pages, options.workers):
            measured.append(one)
            for rule in one.broken_rules():
                progress.console.print(f"BROKEN  {one.page.label}: {rule}", markup=False, soft_wrap=True)
            progress.advance(task)
    report(measured, console)
    return 1 if any(one.broken_rules() for one in measured) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
