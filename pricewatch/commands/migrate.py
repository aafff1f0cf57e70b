"""`scrapy migrate`: bring the database schema up to date."""

from __future__ import annotations

import argparse

from pricewatch.console.project_command import ProjectCommand
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Bring the database schema up to date (the daemon and every crawl do so, too)"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import check_reachable, connect, safe_url
        from pricewatch.store.engine.schema import REVISION, ensure_schema

        try:
            engine = connect()
            check_reachable(engine)
            changed = ensure_schema(engine)
        except UserError as error:
            print_message(str(error))
            self.exitcode = 1
            return
        print(
            f"Schema {REVISION} {'is now' if changed else 'was already'} in place at {safe_url(engine.url)}"
        )
