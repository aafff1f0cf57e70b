"""`scrapy browser`: which Chromium renders pages here; `--install` brings one."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand

from pricewatch.console.action_command import say


def configured_path(command: ScrapyCommand) -> str:
    return (command.settings.get("CHROMIUM_PATH") or "") if command.settings is not None else ""


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def short_desc(self) -> str:
        return "Say which Chromium renders pages that need JavaScript, or install one"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--install",
            action="store_true",
            help="where there is none: try playwright's installer, then the system's package (as root)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.fetching.browser.chromium import install_chromium, working_chromium
        from pricewatch.fetching.failures import NoBrowser

        configured = configured_path(self)
        try:
            chromium = install_chromium(configured, say) if opts.install else working_chromium(configured)
        except NoBrowser as missing:
            say(f"No browser: {missing}.")
            self.exitcode = 1
        else:
            print(f"Browser: {chromium}")
