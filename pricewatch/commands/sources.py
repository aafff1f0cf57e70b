"""`scrapy sources`: list sources, approve fetching from them, and set their rate limits."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch import clock
from pricewatch.console import audit_entry
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_table
from pricewatch.errors import UserError
from pricewatch.rules.rendering import CHOICES

MAX_RATE = 1000
SOURCE_HELP = "id or domain of the source"
RENDER_HELP = """\
auto: without the browser first; with it if a page shows a product without a
price. never: without the browser, even if the adapter requires JavaScript.
always: with the browser. Whatever you choose, what pricewatch has learned
about the source is reset. Targets can have a choice of their own."""


class Command(ActionCommand):
    name = "sources"

    def short_desc(self) -> str:
        return "List sources, approve fetching from them, and set their rate limits"

    def long_desc(self) -> str:
        return "Nothing is fetched from a site until a person has read its terms and approved it."

    def add_actions(self) -> None:
        self.action("list", "List all sources")
        approve = self.action(
            "approve", "Record who has read the terms of a site, and allow fetching from it"
        )
        approve.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
        approve.add_argument("--by", metavar="NAME", required=True, help="who has read the terms")
        change = self.action(
            "set",
            "Change the rate limit of a source, which all processes share",
            "Raise it only for your own site, or with the consent of its owner. Example:\n"
            "  scrapy sources set shop.example --requests-per-second 5 --min-delay-ms 0 --max-concurrent 4",
        )
        change.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
        change.add_argument("--requests-per-second", metavar="N", help="maximum rate; 0 restores the default")
        change.add_argument("--min-delay-ms", metavar="N", help="minimum delay between two requests")
        change.add_argument("--max-concurrent", metavar="N", help="maximum number of concurrent requests")
        render = self.action(
            "render",
            "Choose whether the pages of a source are fetched with the browser",
            RENDER_HELP,
        )
        render.add_argument("source", metavar="DOMAIN", help=SOURCE_HELP)
        render.add_argument("render", choices=CHOICES)
        forget = self.action(
            "forget-price-place",
            "Forget where the price stands on the pages of a source; pages teach it again",
        )
        forget.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
        withdraw = self.action("withdraw", "Withdraw the approval: nothing more is fetched from the site")
        withdraw.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import source_list

        with engine().connect() as connection:
            rows, spiders = source_list.sources(connection), source_list.custom_spiders_by_source(connection)
        columns = ("source", "domain", "adapter", "render", "visibility", "approved by", "on", "spiders")
        cells = [
            (
                *(row[name] for name in ("id", "domain", "adapter_id")),
                f"{row['render']} (browser)" if row["needs_browser"] else row["render"],
                row["visibility"],
                row["tos_approved_by"] or "nobody",
                f"{row['tos_reviewed_at']:%Y-%m-%d}" if row["tos_reviewed_at"] else "",
                ", ".join(spiders.get(row["id"], ())),
            )
            for row in rows
        ]
        print_table(columns, cells)

    def do_approve(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_rows.approve(connection, source.id, opts.by, clock.now())
            audit_entry.record(connection, "source approved", source.id, by=opts.by)
        print(f"{source.id} is approved by {opts.by}.")

    def do_set(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows
        from pricewatch.store.views import source_list

        values: dict[str, Any] = {}
        if opts.requests_per_second is not None:
            values["requests_per_second"] = _rate(opts.requests_per_second)
        if opts.min_delay_ms is not None:
            values["min_delay_ms"] = _integer("--min-delay-ms", opts.min_delay_ms, 0)
        if opts.max_concurrent is not None:
            values["max_concurrent"] = _integer("--max-concurrent", opts.max_concurrent, 1)
        if not values:
            raise UserError("Say what to change: --requests-per-second, --min-delay-ms or --max-concurrent.")
        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_list.set_rate(connection, source.id, values)
            audit_entry.record(connection, "source: rate limit", source.id, **values)
        print(f"Changed {source.id}. New crawls use the new limits.")

    def do_render(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_hints, source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_hints.set_render(connection, source.id, opts.render)
            audit_entry.record(connection, "source: render", source.id, render=opts.render)
        print(f"{source.id}: render is {opts.render}. New crawls use it.")

    def do_forget_price_place(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import price_places, source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            price_places.forget(connection, source.id)
            audit_entry.record(connection, "price place forgotten", source.id)
        print(f"{source.id}: the place of its price is forgotten.")

    def do_withdraw(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows

        with engine().begin() as connection:
            source = source_rows.find(connection, opts.source)
            source_rows.withdraw_approval(connection, source.id, clock.now())
            audit_entry.record(connection, "source approval withdrawn", source.id)
        print(f"Approval withdrawn: nothing more is fetched from {source.id}.")


def _rate(text: str) -> float | None:
    """Parse requests per second; 0 gives None, which restores the default."""
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= MAX_RATE:
        raise UserError(f"--requests-per-second takes a number from 0 to {MAX_RATE}, not {text!r}.")
    return rate or None


def _integer(option: str, text: str, minimum: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7) or int(text) < minimum:
        raise UserError(f"{option} takes a whole number of at least {minimum}, not {text!r}.")
    return int(text)
