"""`scrapy markets`: the slices of sites that are crawled, how often, and how they fare."""

from __future__ import annotations

import argparse
import re
from datetime import datetime
from typing import Any

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.items import Tier
from pricewatch.rules.schedule import FAILURES_TO_OPEN, SHARES, interval
from pricewatch.shell import ActionCommand, print_json, print_table

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class Command(ActionCommand):
    name = "markets"

    def short_desc(self) -> str:
        return "List, add and change markets; scrape one now"

    def add_actions(self) -> None:
        show = self.action("list", "Show all markets")
        show.add_argument("--source", metavar="ID|DOMAIN", help="only of this source")
        show.add_argument("--enabled", action="store_true", help="only those that are crawled")
        show.add_argument("--json", action="store_true", help="one JSON object per line")
        add = self.action("add", "Add a market; the daemon crawls it from its next look on")
        add.add_argument("id", metavar="ID", help="its name: small letters, digits, . _ -")
        add.add_argument("--source", metavar="ID|DOMAIN", required=True)
        add.add_argument("--page", metavar="PATH", action="append", help="a start page; several are possible")
        add.add_argument("--city")
        add.add_argument("--state")
        add.add_argument("--keyword", help="search for this")
        add.add_argument("--category")
        add.add_argument("--name", metavar="TEXT", help="what people call it")
        _frequency(add)
        change = self.action("set", "Change how often a market is crawled, and how much of it")
        change.add_argument("id", metavar="ID")
        _frequency(change)
        for action, summary in (("enable", "Crawl a market"), ("disable", "Crawl a market no more")):
            self.action(action, summary).add_argument("ids", metavar="ID", nargs="+")
        scrape = self.action("scrape", "Queue a job for a market now, due or not")
        scrape.add_argument("id", metavar="ID")
        scrape.add_argument("--spider", choices=list(SHARES), default="discovery")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import market_admin
        from pricewatch.store.database import engine

        with engine().connect() as connection:
            rows = market_admin.listed(connection, source=opts.source, enabled=opts.enabled or None)
        if opts.json:
            print_json(rows)
            return
        columns = ("market", "source", "tier", "state", "discovery", "sweep", "verification", "last crawl")
        print_table(columns, [_cells(row) for row in rows])

    def do_add(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import market_admin
        from pricewatch.store.database import engine

        if not NAME.fullmatch(opts.id):
            raise UserError(f"{opts.id!r} is no name for a market: use small letters, digits, . _ and -.")
        search = {
            name: value for name in ("city", "state", "keyword", "category") if (value := vars(opts)[name])
        }
        if not (opts.page or search):
            raise UserError("Say what to crawl: --page, or something to search for (--city, --keyword, …).")
        with engine().begin() as connection:
            market_admin.add(
                connection,
                opts.id,
                opts.source,
                display_name=opts.name or opts.id,
                start_pages=opts.page or [],
                **search,
                **_changes(opts),
            )
        print(f"The market {opts.id} is added.")

    def do_set(self, opts: argparse.Namespace) -> None:
        changes = _changes(opts)
        if not changes:
            raise UserError("Say what to change: --tier, --every, --max-pages or --max-listings.")
        self._change([opts.id], **changes)
        print(f"The market {opts.id} is changed.")

    def do_enable(self, opts: argparse.Namespace) -> None:
        self._change(opts.ids, enabled=True, consecutive_failures=0)
        print(f"Enabled: {', '.join(opts.ids)}.")

    def do_disable(self, opts: argparse.Namespace) -> None:
        self._change(opts.ids, enabled=False)
        print(f"Disabled: {', '.join(opts.ids)}.")

    def do_scrape(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import market_admin
        from pricewatch.store.database import engine

        with engine().begin() as connection:
            job = market_admin.scrape_now(connection, opts.id, opts.spider)
        print(f"Job {job} is queued; a daemon starts it as soon as it has a free slot.")

    def _change(self, ids: list[str], **values: Any) -> None:
        from pricewatch.store import market_admin
        from pricewatch.store.database import engine

        with engine().begin() as connection:
            for market_id in ids:
                market_admin.change(connection, market_id, clock.now(), **values)


def _frequency(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tier", choices=[str(tier) for tier in Tier])
    parser.add_argument(
        "--every",
        metavar="HOURS",
        help="look at all of it within so many hours, whatever the tier says; 0 goes back to the tier's",
    )
    parser.add_argument("--max-pages", metavar="N", help="of each start page; 0 for no limit")
    parser.add_argument("--max-listings", metavar="N", help="product pages per run")


def _changes(opts: argparse.Namespace) -> dict[str, Any]:
    """What was given, as columns."""
    changes: dict[str, Any] = {"tier": opts.tier} if opts.tier else {}
    if opts.every is not None:
        changes["scrape_frequency_hours"] = _number("--every", opts.every) or None
    if opts.max_pages is not None:
        changes["max_pages"] = _number("--max-pages", opts.max_pages) or None
    if opts.max_listings is not None:
        changes["max_listings_per_scrape"] = _number("--max-listings", opts.max_listings)
    return changes


def _number(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise UserError(f"{option} takes a whole number, not {text!r}.")
    return int(text)


def _cells(row: dict[str, Any]) -> list[object]:
    state = "enabled" if row["enabled"] else "disabled"
    if row["tos_approved_by"] is None:
        state += ", source not approved"
    if row["consecutive_failures"] >= FAILURES_TO_OPEN:
        state += ", circuit open"
    frequency = row["scrape_frequency_hours"]
    every = [f"{interval(spider, row['tier'], frequency).total_seconds() / 3600:g} h" for spider in SHARES]
    last: datetime | None = row["last_scrape_at"]
    crawled = f"{last:%Y-%m-%d %H:%M} {row['last_scrape_status']}" if last else "never"
    return [row["id"], row["source_id"], row["tier"], state, *every, crawled]
