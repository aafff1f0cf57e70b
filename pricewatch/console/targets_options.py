"""The options of `scrapy targets`, action by action."""

from __future__ import annotations

import argparse

from pricewatch.console.action_command import ActionCommand
from pricewatch.rules.rendering import CHOICES, INHERIT

RENDER_CHOICES = (*CHOICES, INHERIT)
MAX_ROWS = 50
CSV_HELP = """\
The file has a header with the column `url`. Other columns are optional:
schedule, priority, adapter, render (auto, never, always or inherit), notes,
and the selectors price, title, availability (CSS or XPath) and currency (a
code such as EUR). A file without a header has one URL per line. Columns are
separated by commas, semicolons or tabs; the encoding is detected. Each bad
line is reported; the others are imported in one transaction. For a URL that
is already a target, the values in the file replace the stored ones. --dry-run
changes nothing."""
RENDER_HELP = """\
auto: without the browser first; with it if the page shows a product without a
price. never: without the browser. always: with the browser. inherit: as the
source of the target (`scrapy sources render`)."""


def add_actions(command: ActionCommand) -> None:
    add = command.action("add", "Add URLs as targets", "By default, a target is checked every four hours.")
    add.add_argument("url", metavar="URL", nargs="+")
    add.add_argument("--schedule", metavar="CRON", help="when to check, in UTC (default: 0 */4 * * *)")
    add.add_argument("--priority", metavar="N", help="-100 to 100; higher runs first (default: 0)")
    add.add_argument("--adapter", metavar="ID", help="adapter to use (default: the adapter of the site)")
    add.add_argument(
        "--render", choices=RENDER_CHOICES, help="whether to use the browser (default: as its source)"
    )
    add.add_argument(
        "--selector",
        metavar="FIELD=SELECTOR",
        action="append",
        default=[],
        help="CSS or XPath of price, title or availability; or currency=EUR; can be repeated",
    )
    add.add_argument("--notes", help="any text")
    _add_approval_options(add)
    load = command.action("import", "Add the URLs of a CSV file as targets", CSV_HELP)
    load.add_argument("file", metavar="FILE.csv", help="file to import; - for standard input")
    load.add_argument("--dry-run", action="store_true", help="report what would be imported; change nothing")
    load.add_argument("--report", metavar="FILE.csv", help="write the outcome of every line to this file")
    _add_approval_options(load)
    show = command.action("list", "List targets")
    _add_filter_options(show)
    show.add_argument("--due", action="store_true", help="only targets that are due")
    show.add_argument(
        "--limit", type=int, default=MAX_ROWS, metavar="N", help="at most N targets (default: 50)"
    )
    show.add_argument("--after", type=int, default=0, metavar="ID", help="only targets with higher ids")
    show.add_argument("--json", action="store_true", help="print one JSON object per line")
    render = command.action("render", "Choose whether targets are fetched with the browser", RENDER_HELP)
    render.add_argument("render", choices=RENDER_CHOICES)
    render.add_argument("targets", metavar="ID|URL", nargs="*")
    _add_filter_options(render)
    for name, summary in (
        ("pause", "Stop checking targets until they are resumed"),
        ("resume", "Check paused, broken or stale targets again"),
        ("requeue", "Check targets as soon as possible"),
        ("remove", "Remove targets; their listings and prices are kept"),
    ):
        parser = command.action(name, summary)
        parser.add_argument("targets", metavar="ID|URL", nargs="*")
        _add_filter_options(parser)
        if name == "remove":
            parser.add_argument("--yes", action="store_true", help="remove without asking")


def _add_approval_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="you have read the terms of the site and approve")
    parser.add_argument(
        "--approved-by", metavar="NAME", help="this person has read the terms of the site and approves"
    )


def _add_filter_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--status", choices=("ACTIVE", "PAUSED", "BROKEN", "STALE"), help="only targets with this status"
    )
    parser.add_argument("--source", metavar="ID|DOMAIN", help="only targets of this source")
    parser.add_argument("--adapter", metavar="ID", help="only targets of this adapter")
    parser.add_argument("--contains", metavar="TEXT", help="only targets whose URL contains this text")
