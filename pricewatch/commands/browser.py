"""`scrapy browser`: find the Chromium that renders pages, or install one."""

from __future__ import annotations

import argparse

from pricewatch.console.project_command import ProjectCommand, settings_of
from pricewatch.console.terminal_io import print_message


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Find the Chromium that renders JavaScript pages, or install one"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--install",
            action="store_true",
            help="if none is found, try playwright's installer, then the system package (as root)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.fetching.browser.chromium import install_chromium, usable_chromium
        from pricewatch.fetching.failures import NoBrowser

        settings = settings_of(self)
        try:
            if opts.install:
                install_chromium(settings.get("CHROMIUM_PATH") or "", print_message)
            chromium = usable_chromium(settings)
        except NoBrowser as missing:
            print_message(f"No browser: {missing}.")
            self.exitcode = 1
        else:
            print(f"Browser: {chromium}")
