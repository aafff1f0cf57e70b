"""`scrapy markets`: the slices of sites that are crawled, how often, and how they fare."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_json, print_message, print_table
from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.rules.market_schedule import SHARES, interval
from pricewatch.vocabulary import Tier

SEARCH = ("keyword", "category", "city", "state")
PRICES = ("min_price", "max_price", "min_price_cents", "max_price_cents", "price_currency")


class Command(ActionCommand):
    name = "markets"

    def short_desc(self) -> str:
        return "List, add and change markets; scrape one now"

    def add_actions(self) -> None:
        show = self.action("list", "Show all markets")
        show.add_argument("--source", metavar="ID|DOMAIN", help="only of this source")
        show.add_argument("--enabled", action="store_true", help="only those that are crawled")
        show.add_argument("--json", action="store_true", help="one JSON object per line")
        known = self.action("show", "Show what is known of a market, the latest first")
        known.add_argument("id", metavar="ID")
        known.add_argument("--limit", type=int, default=20, metavar="N", help="at most N listings")
        known.add_argument("--json", action="store_true", help="one JSON object per line")
        add = self.action(
            "add",
            "Add a part of a site; the daemon crawls it from its next look on",
            "Examples:\n"
            "  scrapy markets add travel-books https://books.toscrape.com/catalogue/category/books/travel_2/\n"
            "  scrapy markets add nikon https://jp.mercari.com --keyword nikon --max-price 50,000",
        )
        add.add_argument("id", metavar="ID", help="what to call it: a-z, 0-9, '.', '_' and '-'")
        add.add_argument("urls", metavar="URL", nargs="+", help="overview pages, or the site's address alone")
        add.add_argument("--adapter", metavar="ID", help="who reads it (default: the domain's own)")
        add.add_argument("--source", metavar="ID", help="the source it belongs to (default: by its address)")
        add.add_argument("--name", metavar="TEXT", help="what people call it")
        for name in SEARCH:
            add.add_argument(f"--{name.replace('_', '-')}", help="to search for, where it searches")
        for end, which in (("min", "lowest"), ("max", "highest")):
            ends = add.add_mutually_exclusive_group()
            ends.add_argument(
                f"--{end}-price", metavar="AMOUNT", help=f"the {which} price, such as 12.50 or 1,000"
            )
            ends.add_argument(
                f"--{end}-price-cents", type=int, metavar="N", help="the same in minor units of the currency"
            )
        add.add_argument(
            "--price-currency",
            metavar="CODE",
            help="of both prices (default: the adapter's own); what costs another currency is not left out",
        )
        _frequency(add)
        change = self.action("set", "Change how often a market is crawled, and how much of it")
        change.add_argument("id", metavar="ID")
        _frequency(change)
        for action, summary in (("enable", "Crawl a market"), ("disable", "Crawl a market no more")):
            self.action(action, summary).add_argument("ids", metavar="ID", nargs="+")
        scrape = self.action("scrape", "Queue a job for a market now, due or not")
        scrape.add_argument("id", metavar="ID")
        scrape.add_argument("--spider", choices=list(SHARES), default="discovery")
        believe = self.action(
            "believe",
            "Believe that a market has become smaller",
            "A sweep that saw far less than the last complete one is partial, and concludes nothing.\n"
            "Two in a row that agree are believed; with this command, the last one is, at once.\n\n"
            "Example:\n  scrapy markets believe bazaar-bikes --by Ada",
        )
        believe.add_argument("id", metavar="ID")
        believe.add_argument("--by", metavar="NAME", required=True, help="who says so, for the audit")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import market_list
        from pricewatch.store.writing import source_rows

        with engine().connect() as connection:
            source = source_rows.find(connection, opts.source).id if opts.source else None
            rows = market_list.markets(connection, source_id=source, enabled=opts.enabled or None)
        if opts.json:
            print_json(rows)
            return
        columns = ("market", "source", "tier", "state", "discovery", "sweep", "verification", "last crawl")
        print_table(columns, [_cells(row) for row in rows])

    def do_show(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import market_list
        from pricewatch.store.writing import market_rows

        with engine().connect() as connection:
            market_rows.load_market(connection, opts.id)
            rows = market_list.latest_listings(connection, opts.id, max(1, opts.limit))
        if opts.json:
            print_json([row._asdict() for row in rows])
            return
        cells = [
            (
                Money.of(row.price_cents, row.currency) or "",
                row.availability,
                "yes" if row.active else "no",
                row.title,
                row.url,
            )
            for row in rows
        ]
        print_table(("price", "stock", "active", "title", "address"), cells)

    def do_add(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import add_market
        from pricewatch.store.engine.database import engine

        values = {"id": opts.id, "display_name": opts.name, **_changes(opts)}
        values |= {name: vars(opts)[name] for name in (*SEARCH, *PRICES)}
        with engine().begin() as connection:
            added = add_market.add_by_address(
                connection, opts.urls, values, source_id=opts.source, adapter_id=opts.adapter
            )
        print(f"Market {opts.id} of {added.source_id}, read by {added.adapter_id}.")
        if not added.is_approved:
            print_message(
                f"Nothing is fetched from {added.source_id} before somebody has read its terms: "
                f"`scrapy sources approve {added.source_id} --by NAME`."
            )

    def do_set(self, opts: argparse.Namespace) -> None:
        changes = _changes(opts)
        if not changes:
            raise UserError("Say what to change: --tier, --every, --max-pages or --max-listings.")
        self._change([opts.id], **changes)
        print(f"The market {opts.id} is changed.")

    def do_enable(self, opts: argparse.Namespace) -> None:
        self._change(opts.ids, enabled=True)
        print(f"Enabled: {', '.join(opts.ids)}.")

    def do_disable(self, opts: argparse.Namespace) -> None:
        self._change(opts.ids, enabled=False)
        print(f"Disabled: {', '.join(opts.ids)}.")

    def do_scrape(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import market_list

        with engine().begin() as connection:
            job = market_list.scrape_now(connection, opts.id, opts.spider)
        print(f"Job {job} is queued; a daemon starts it as soon as it has a free slot.")

    def do_believe(self, opts: argparse.Namespace) -> None:
        from pricewatch import clock
        from pricewatch.store.engine.database import engine
        from pricewatch.store.people import audit_log
        from pricewatch.store.writing import market_rows, sweep_checkpoints

        now = clock.now()
        with engine().begin() as connection:
            market_rows.load_market(connection, opts.id)
            counts = sweep_checkpoints.believe(connection, opts.id, now)
            audit_log.note(
                connection,
                person=opts.by,
                address=None,
                action="smaller market believed",
                subject=opts.id,
                now=now,
            )
        print(f"{opts.id} now has {counts.seen} cards, not {counts.last_complete}.")

    def _change(self, ids: list[str], **values: Any) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import market_list

        with engine().begin() as connection:
            for market_id in ids:
                if not market_list.change(connection, market_id, values):
                    raise UserError(
                        f"There is no market {market_id!r}: `scrapy markets list` shows all of them."
                    )


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
    if row["circuits_open"]:
        state += f", circuit open for {' and '.join(row['circuits_open'])}"
    frequency = row["scrape_frequency_hours"]
    every = [f"{interval(spider, row['tier'], frequency).total_seconds() / 3600:g} h" for spider in SHARES]
    last: datetime | None = row["last_scrape_at"]
    crawled = f"{last:%Y-%m-%d %H:%M} {row['last_scrape_status']}" if last else "never"
    return [row["id"], row["source_id"], row["tier"], state, *every, crawled]
