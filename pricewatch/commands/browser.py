"""`scrapy browser`: find the Chromium that renders pages, or install one."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand

from pricewatch.console.project_command import ProjectCommand
from pricewatch.console.terminal_io import print_message


def configured_path(command: ScrapyCommand) -> str:
    return (command.settings.get("CHROMIUM_PATH") or "") if command.settings is not None else ""


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
        from pricewatch.fetching.browser.chromium import install_chromium, working_chromium
        from pricewatch.fetching.failures import NoBrowser

        configured = configured_path(self)
        try:
            chromium = (
                install_chromium(configured, print_message) if opts.install else working_chromium(configured)
            )
        except NoBrowser as missing:
            print_message(f"No browser: {missing}.")
            self.exitcode = 1
        else:
            print(f"Browser: {chromium}")
