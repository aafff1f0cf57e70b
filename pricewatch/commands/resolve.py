"""`scrapy resolve`: match listings to products, and set which sources have trusted identifiers."""

from __future__ import annotations

import argparse

from pricewatch import clock
from pricewatch.console import audit_entry
from pricewatch.console.project_command import BAD_INPUT, ProjectCommand
from pricewatch.console.terminal_io import print_message, progress_bar
from pricewatch.errors import UserError


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Match listings to products (every run does so for the listings it read)"

    def long_desc(self) -> str:
        return (
            "Match listings to products by a trusted GTIN, else by brand and part number, else by the title. "
            "Without options, resolve the listings that are queued for it."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--all", action="store_true", help="resolve again every listing whose product page was read"
        )
        parser.add_argument("--trust", metavar="SOURCE", help="trust the GTINs of this source")
        parser.add_argument("--distrust", metavar="SOURCE", help="stop trusting the GTINs of this source")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            self._run(opts)
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT

    def _run(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows
        from pricewatch.store.writing import product_links

        with engine().begin() as connection:
            for name, trusted in ((opts.trust, True), (opts.distrust, False)):
                if name:
                    source = source_rows.find(connection, name)
                    product_links.set_gtin_trust(connection, source.id, clock.now(), trusted=trusted)
                    audit_entry.record(
                        connection, "identifiers trusted" if trusted else "identifiers not trusted", source.id
                    )
            if opts.all:
                audit_entry.record(connection, "products resolved again", "all listings")
                product_links.request_all(connection, clock.now())
            waiting = product_links.count_pending(connection)
        done = 0
        with progress_bar("Resolving", waiting) as progress:
            while True:
                with engine().begin() as connection:
                    chunk = product_links.resolve(connection, clock.now())
                if not chunk:
                    break
                done += chunk
                progress(done)
        print(f"{done} listings resolved.")
