"""`scrapy markets`: which parts of which sites are crawled, and how another one is added."""

from __future__ import annotations

import argparse

from pricewatch.items import Tier
from pricewatch.shell import ActionCommand, print_json, print_table, say

SEARCH = ("keyword", "category", "city", "state", "min_price_cents", "max_price_cents")


class Command(ActionCommand):
    name = "markets"

    def short_desc(self) -> str:
        return "List the markets that are crawled; add one"

    def add_actions(self) -> None:
        self.action("list", "Show all markets")
        show = self.action("show", "Show what is known of a market, the latest first")
        show.add_argument("id", metavar="ID")
        show.add_argument("--limit", type=int, default=20, metavar="N", help="at most N listings")
        show.add_argument("--json", action="store_true", help="one JSON object per line")
        add = self.action(
            "add",
            "Crawl another part of a site",
            "Examples:\n"
            "  scrapy markets add travel-books https://books.toscrape.com/catalogue/category/books/travel_2/\n"
            "  scrapy markets add nikon https://jp.mercari.com --keyword nikon --max-price-cents 50000",
        )
        add.add_argument("id", metavar="ID", help="what to call it: a-z, 0-9, '.', '_' and '-'")
        add.add_argument("urls", metavar="URL", nargs="+", help="overview pages, or the site's address alone")
        add.add_argument("--adapter", metavar="ID", help="who reads it (default: the domain's own)")
        add.add_argument("--source", metavar="ID", help="the source it belongs to (default: by its address)")
        add.add_argument("--name", help="how people call it")
        add.add_argument("--tier", choices=[tier.value for tier in Tier], default=Tier.STANDARD.value)
        add.add_argument("--max-pages", type=int, metavar="N", help="read at most N pages of each start page")
        for name in SEARCH:
            kind = int if name.endswith("cents") else str
            add.add_argument(
                f"--{name.replace('_', '-')}", type=kind, help="to search for, where it searches"
            )

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import new_markets
        from pricewatch.store.database import engine

        with engine().connect() as connection:
            rows = new_markets.listed(connection)
        cells = [
            (
                row.id,
                row.source_id,
                row.display_name,
                row.tier,
                "yes" if row.enabled else "no",
                f"{row.last_scrape_at:%Y-%m-%d %H:%M}" if row.last_scrape_at else "never",
                row.last_scrape_status or "",
            )
            for row in rows
        ]
        print_table(("market", "source", "name", "tier", "enabled", "last crawled", "status"), cells)

    def do_show(self, opts: argparse.Namespace) -> None:
        from pricewatch.parsing.price import from_cents
        from pricewatch.store import markets, new_markets
        from pricewatch.store.database import engine

        with engine().connect() as connection:
            markets.load_market(connection, opts.id)
            rows = new_markets.latest_listings(connection, opts.id, max(1, opts.limit))
        if opts.json:
            print_json([row._asdict() for row in rows])
            return
        cells = [
            (
                f"{from_cents(row.price_cents, row.currency)} {row.currency}" if row.price_cents else "",
                row.availability,
                "yes" if row.active else "no",
                row.title,
                row.canonical_url,
            )
            for row in rows
        ]
        print_table(("price", "stock", "active", "title", "address"), cells)

    def do_add(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import new_markets
        from pricewatch.store.database import engine

        new = new_markets.NewMarket(
            id=opts.id,
            urls=opts.urls,
            adapter_id=opts.adapter,
            source_id=opts.source,
            display_name=opts.name,
            tier=opts.tier,
            search={name: getattr(opts, name) for name in SEARCH if getattr(opts, name) is not None},
            max_pages=opts.max_pages,
        )
        with engine().begin() as connection:
            added = new_markets.add(connection, new)
        print(f"Market {opts.id} of {added.source_id}, read by {added.adapter_id}.")
        if not added.is_approved:
            say(
                f"Nothing is fetched from {added.source_id} before somebody has read its terms: "
                f"`scrapy sources approve {added.source_id} --by NAME`."
            )
