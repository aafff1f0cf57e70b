"""`scrapy sources`: the sites that are known, and who has approved fetching from them."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.store import sources, target_sources
from pricewatch.store.database import engine


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def syntax(self) -> str:
        return "[list | approve SOURCE --by NAME | withdraw SOURCE]"

    def short_desc(self) -> str:
        return "List the sites that are known, and approve fetching from them"

    def long_desc(self) -> str:
        return (
            "Nothing is crawled from a site whose terms no person has read and approved. "
            "`approve` notes who did; `withdraw` takes it back."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--by", metavar="NAME", help="who has read the terms and approves")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        action, *names = args or ["list"]
        try:
            if action == "list" and not names:
                self._list()
            elif action == "approve" and len(names) == 1 and opts.by:
                with engine().begin() as connection:
                    source = target_sources.find(connection, names[0])
                    target_sources.approve(connection, source.id, opts.by, clock.now())
                print(f"{names[0]} is approved by {opts.by}.")
            elif action == "withdraw" and len(names) == 1:
                with engine().begin() as connection:
                    source = target_sources.find(connection, names[0])
                    target_sources.withdraw(connection, source.id, clock.now())
                print(f"Nothing is fetched from {names[0]} any more.")
            else:
                raise UsageError(f"scrapy sources {self.syntax()}", print_help=False)
        except UserError as error:
            print(f"pricewatch: {error}", file=sys.stderr)
            self.exitcode = 1

    def _list(self) -> None:
        from rich.console import Console
        from rich.table import Table

        table = Table("source", "domain", "adapter", "visibility", "approved by", "on")
        with engine().connect() as connection:
            for row in sources.list_sources(connection):
                on = f"{row.tos_reviewed_at:%Y-%m-%d}" if row.tos_reviewed_at else ""
                approved = row.tos_approved_by or "nobody"
                table.add_row(row.id, row.domain, row.adapter_id, row.visibility, approved, on)
        Console().print(table)
