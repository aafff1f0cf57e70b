"""`scrapy sources`: the sites that are known, and who has approved fetching from them."""

from __future__ import annotations

import argparse

from pricewatch import clock
from pricewatch.shell import ActionCommand, print_table


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
        withdraw = self.action("withdraw", "Take that back: nothing is fetched any more")
        withdraw.add_argument("source", metavar="SOURCE", help="its id or its domain")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import source_list
        from pricewatch.store.database import engine

        with engine().connect() as connection:
            rows = source_list.sources(connection)
        columns = ("source", "domain", "adapter", "visibility", "approved by", "on")
        cells = [
            (
                *(row[name] for name in ("id", "domain", "adapter_id", "visibility")),
                row["tos_approved_by"] or "nobody",
                f"{row['tos_reviewed_at']:%Y-%m-%d}" if row["tos_reviewed_at"] else "",
            )
            for row in rows
        ]
        print_table(columns, cells)

    def do_approve(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import target_sources
        from pricewatch.store.database import engine

        with engine().begin() as connection:
            source = target_sources.find(connection, opts.source)
            target_sources.approve(connection, source.id, opts.by, clock.now())
        print(f"{source.id} is approved by {opts.by}.")

    def do_withdraw(self, opts: argparse.Namespace) -> None:
        from pricewatch.store import target_sources
        from pricewatch.store.database import engine

        with engine().begin() as connection:
            source = target_sources.find(connection, opts.source)
            target_sources.withdraw(connection, source.id, clock.now())
        print(f"Nothing is fetched from {source.id} any more.")
