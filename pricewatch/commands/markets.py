"""`scrapy markets`: list, add and change markets, and queue a job for one."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from pricewatch.console import audit_entry
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_json, print_message, print_table
from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.rules.market_schedule import INTERVAL_SHARES, interval
from pricewatch.vocabulary import Tier

SEARCH = ("keyword", "category", "city", "state")
PRICES = ("min_price", "max_price", "min_price_cents", "max_price_cents", "price_currency")


class Command(ActionCommand):
    name = "markets"

    def short_desc(self) -> str:
        return "List, add and change markets; queue a job for one"

    def add_actions(self) -> None:
        show_all = self.action("list", "List all markets")
        show_all.add_argument("--source", metavar="ID|DOMAIN", help="only markets of this source")
        show_all.add_argument("--enabled", action="store_true", help="only enabled markets")
        show_all.add_argument("--json", action="store_true", help="print one JSON object per line")
        show = self.action("show", "Show the listings of a market, the latest first")
        show.add_argument("id", metavar="ID")
        show.add_argument(
            "--limit", type=int, default=20, metavar="N", help="at most N listings (default: 20)"
        )
        show.add_argument("--json", action="store_true", help="print one JSON object per line")
        add = self.action(
            "add",
            "Add a part of a site as a market; the daemon crawls it from its next dispatch on",
            "Examples:\n"
            "  scrapy markets add travel-books https://books.toscrape.com/catalogue/category/books/travel_2/\n"
            "  scrapy markets add nikon https://jp.mercari.com --keyword nikon --max-price 50,000",
        )
        add.add_argument("id", metavar="ID", help="id of the new market: a-z, 0-9, '.', '_' and '-'")
        add.add_argument("urls", metavar="URL", nargs="+", help="overview pages, or the site's home page")
        add.add_argument(
            "--adapter", metavar="ID", help="adapter to use (default: the adapter of the domain)"
        )
        add.add_argument("--source", metavar="ID", help="source of the market (default: found by the URL)")
        add.add_argument("--name", metavar="TEXT", help="display name")
        for name in SEARCH:
            add.add_argument(
                f"--{name.replace('_', '-')}", help=f"{name} to search for, if the site can search"
            )
        for end, which in (("min", "lowest"), ("max", "highest")):
            ends = add.add_mutually_exclusive_group()
            ends.add_argument(
                f"--{end}-price", metavar="AMOUNT", help=f"{which} price, such as 12.50 or 1,000"
            )
            ends.add_argument(
                f"--{end}-price-cents", type=int, metavar="N", help=f"{which} price in minor currency units"
            )
        add.add_argument(
            "--price-currency",
            metavar="CODE",
            help="currency of both prices (default: the adapter's); listings in other currencies are kept",
        )
        _add_frequency_options(add)
        change = self.action("set", "Change how often a market is crawled, and how much of it")
        change.add_argument("id", metavar="ID")
        _add_frequency_options(change)
        for action, summary in (("enable", "Start crawling markets"), ("disable", "Stop crawling markets")):
            self.action(action, summary).add_argument("ids", metavar="ID", nargs="+")
        scrape = self.action("scrape", "Queue a job for a market now, even if it is not due")
        scrape.add_argument("id", metavar="ID")
        scrape.add_argument(
            "--spider",
            choices=list(INTERVAL_SHARES),
            default="discovery",
            help="spider to run (default: discovery)",
        )
        believe = self.action(
            "believe",
            "Accept that a market has become smaller",
            "A sweep that saw far fewer listings than the last complete one counts as partial: nothing is\n"
            "concluded about the listings that it did not see. Two partial sweeps in a row with similar\n"
            "counts are accepted as complete; this command accepts the last one now.\n\n"
            "Example:\n  scrapy markets believe bazaar-bikes --by Ada",
        )
        believe.add_argument("id", metavar="ID")
        believe.add_argument("--by", metavar="NAME", required=True, help="who accepts it, for the audit log")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows
        from pricewatch.store.views import market_list

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
        from pricewatch.store.source_registry import market_rows
        from pricewatch.store.views import market_list

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
        print_table(("price", "stock", "active", "title", "url"), cells)

    def do_add(self, opts: argparse.Namespace) -> None:
        from pricewatch.services import add_market
        from pricewatch.store.engine.database import engine

        values = {"id": opts.id, "display_name": opts.name, **_changes(opts)}
        values |= {name: vars(opts)[name] for name in (*SEARCH, *PRICES)}
        with engine().begin() as connection:
            added = add_market.add_by_address(
                connection, opts.urls, values, source_id=opts.source, adapter_id=opts.adapter
            )
            audit_entry.record(connection, "market added", opts.id, source=added.source_id)
        print(f"Added market {opts.id} of source {added.source_id}, adapter {added.adapter_id}.")
        if not added.is_approved:
            print_message(
                f"Nothing is fetched from {added.source_id} until somebody has read its terms and approves "
                f"it: `scrapy sources approve {added.source_id} --by NAME`."
            )

    def do_set(self, opts: argparse.Namespace) -> None:
        changes = _changes(opts)
        if not changes:
            raise UserError("Say what to change: --tier, --every, --max-pages or --max-listings.")
        self._change([opts.id], **changes)
        print(f"Changed market {opts.id}.")

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
            audit_entry.record(connection, "scrape now", opts.id, spider=opts.spider)
        print(f"Queued job {job}; a daemon starts it as soon as it has a free slot.")

    def do_believe(self, opts: argparse.Namespace) -> None:
        from pricewatch import clock
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import market_rows
        from pricewatch.store.writing import sweep_checkpoints

        with engine().begin() as connection:
            market_rows.load_market(connection, opts.id)
            counts = sweep_checkpoints.accept_partial_cycle(connection, opts.id, clock.now())
            audit_entry.record(connection, "smaller market believed", opts.id, by=opts.by)
        print(f"{opts.id} now has {counts.seen} cards; it had {counts.last_complete}.")

    def _change(self, ids: list[str], **values: Any) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import market_list

        with engine().begin() as connection:
            for market_id in ids:
                if not market_list.update_market(connection, market_id, values):
                    raise UserError(
                        f"There is no market {market_id!r}: `scrapy markets list` shows all of them."
                    )
                audit_entry.record(connection, "market changed", market_id, **values)


def _add_frequency_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tier", choices=[str(tier) for tier in Tier], help="how often it is crawled")
    parser.add_argument(
        "--every",
        metavar="HOURS",
        help="crawl all of it within this many hours instead of the tier's; 0 restores the tier's",
    )
    parser.add_argument("--max-pages", metavar="N", help="overview pages per start page; 0 for no limit")
    parser.add_argument("--max-listings", metavar="N", help="product pages per run")


def _changes(opts: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were set, by column."""
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
    every = [
        f"{interval(spider, row['tier'], frequency).total_seconds() / 3600:g} h" for spider in INTERVAL_SHARES
    ]
    last: datetime | None = row["last_scrape_at"]
    crawled = f"{last:%Y-%m-%d %H:%M} {row['last_scrape_status']}" if last else "never"
    return [row["id"], row["source_id"], row["tier"], state, *every, crawled]
