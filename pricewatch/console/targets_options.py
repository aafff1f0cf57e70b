"""The options of `scrapy targets`, action by action."""

from __future__ import annotations

import argparse

from pricewatch.console.action_command import ActionCommand

MOST_SHOWN = 50
CSV_HELP = """\
The file has a header with a column `url`; the other columns may be missing:
schedule, priority, adapter, notes, and the selectors price, title,
availability (CSS or XPath) and currency (a code such as EUR). Without a
header it is one URL per line. Commas, semicolons, tabs and any usual
encoding are understood. Each bad line is reported, the good ones are
imported in one go; a URL that is watched already takes over what the file
gives for it, and keeps the rest. --dry-run only tells what would happen."""


def add_actions(command: ActionCommand) -> None:
    add = command.action(
        "add", "Watch a URL", "Without options: every four hours, by the adapter of its site."
    )
    add.add_argument("url", metavar="URL", nargs="+")
    add.add_argument("--schedule", metavar="CRON", help="when to look, in UTC (default: 0 */4 * * *)")
    add.add_argument("--priority", metavar="N", help="-100 to 100; higher comes first (default: 0)")
    add.add_argument("--adapter", metavar="ID", help="read it with this adapter")
    add.add_argument(
        "--selector",
        metavar="FIELD=SELECTOR",
        action="append",
        default=[],
        help="CSS or XPath of price, title or availability; or currency=EUR",
    )
    add.add_argument("--notes", help="anything you want to remember")
    _add_approval(add)
    load = command.action("import", "Watch the URLs of a CSV file", CSV_HELP)
    load.add_argument("file", metavar="FILE.csv", help="- reads standard input")
    load.add_argument("--dry-run", action="store_true", help="say what would happen, change nothing")
    load.add_argument("--report", metavar="FILE.csv", help="write what became of every line to this file")
    _add_approval(load)
    show = command.action("list", "Show targets")
    _add_filters(show)
    show.add_argument("--due", action="store_true", help="only those that are due")
    show.add_argument("--limit", type=int, default=MOST_SHOWN, help="at most this many (default: 50)")
    show.add_argument("--after", type=int, default=0, metavar="ID", help="only with higher numbers")
    show.add_argument("--json", action="store_true", help="one JSON object per line")
    for name, summary in (
        ("pause", "Stop watching for a while"),
        ("resume", "Watch again what was paused, broken or stale"),
        ("requeue", "Look at them as soon as possible"),
        ("remove", "Stop watching for good; what was stored stays"),
    ):
        parser = command.action(name, summary)
        parser.add_argument("targets", metavar="ID|URL", nargs="*")
        _add_filters(parser)
        if name == "remove":
            parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_approval(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="you have read the site's terms and approve")
    parser.add_argument("--approved-by", metavar="NAME", help="this person has read the terms of the site")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--status", choices=("ACTIVE", "PAUSED", "BROKEN", "STALE"), help="only with this status"
    )
    parser.add_argument("--source", metavar="ID|DOMAIN", help="only of this source")
    parser.add_argument("--adapter", metavar="ID", help="only those that this adapter reads")
    parser.add_argument("--contains", metavar="TEXT", help="only URLs with this in them")
