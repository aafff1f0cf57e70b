"""`scrapy sources`: the sites that are known, and who has approved fetching from them."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch import clock
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_table
from pricewatch.errors import UserError

HIGHEST_RATE = 1000


class Command(ActionCommand):
    name = "sources"

    def short_desc(self) -> str:
        return "List the sites that are known, and approve fetching from them"

    def long_desc(self) -> str:
        return "Nothing is crawled from a site whose terms no person has read and approved."

    def add_actions(self) -> None:
        self.action("list", "Show all sites")
        approve = self.action("approve", "Note who has read a site's terms: from now on it is fetched from")
        approve.add_argument("source", metavar="SOURCE", help="its id or its domain")
        approve.add_argument("--by", metavar="NAME", required=True, help="who has read the terms")
        change = self.action(
            "set",
            "Change how often a site is asked, in all processes together",
            "Only where the site is yours, or its owner agrees. Example:\n"
            "  scrapy sources set shop.example --requests-per-second 5 --min-delay-ms 0 --max-concurrent 4",
        )
        change.add_argument("source", metavar="SOURCE", help="its id or its domain")
        change.add_argument("--requests-per-second", metavar="N", help="at most; 0 goes back to the default")
        change.add_argument("--min-delay-ms", metavar="N", help="from one request to the next")
        change.add_argument("--max-concurrent", metavar="N", help="requests under way at once")
        withdraw = self.action("withdraw", "Take that back: nothing is fetched any more")
        withdraw.add_argument("source", metavar="SOURCE", help="its id or its domain")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import source_list

        with engine().connect() as connection:
            rows, spiders = source_list.sources(connection), source_list.spiders(connection)
        columns = ("source", "domain", "adapter", "visibility", "approved by", "on", "spiders")
        cells = [
            (
                *(row[name] for name in ("id", "domain", "adapter_id", "visibility")),
                row["tos_approved_by"] or "nobody",
                f"{row['tos_reviewed_at']:%Y-%m-%d}" if row["tos_reviewed_at"] else "",
                ", ".join(spiders.get(row["id"], ())),
            )
            for row in rows
        ]
        print_table(columns, cells)

    def do_approve(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_rows.approve(connection, source.id, opts.by, clock.now())
        print(f"{source.id} is approved by {opts.by}.")

    def do_set(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import source_list
        from pricewatch.store.writing import source_rows

        values: dict[str, Any] = {}
        if opts.requests_per_second is not None:
            values["requests_per_second"] = _rate(opts.requests_per_second)
        if opts.min_delay_ms is not None:
            values["min_delay_ms"] = _whole("--min-delay-ms", opts.min_delay_ms, 0)
        if opts.max_concurrent is not None:
            values["max_concurrent"] = _whole("--max-concurrent", opts.max_concurrent, 1)
        if not values:
            raise UserError("Say what to change: --requests-per-second, --min-delay-ms or --max-concurrent.")
        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_list.set_rate(connection, source.id, values)
        print(f"{source.id} is changed. Crawls that begin from now on keep to it.")

    def do_withdraw(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_rows.withdraw(connection, source.id, clock.now())
        print(f"Nothing is fetched from {source.id} any more.")


def _rate(text: str) -> float | None:
    """Requests a second; 0 is the default's again."""
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= HIGHEST_RATE:
        raise UserError(f"--requests-per-second takes a number from 0 to {HIGHEST_RATE}, not {text!r}.")
    return rate or None


def _whole(option: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7) or int(text) < least:
        raise UserError(f"{option} takes a whole number from {least} on, not {text!r}.")
    return int(text)
