"""`scrapy fetch URL` with pricewatch's fetching rules, without a run, and with a message on failure."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from scrapy.commands import fetch

from pricewatch.console.page_command import PageCommand


class Command(PageCommand, fetch.Command):
    default_settings: ClassVar[dict[str, Any]] = {
        **fetch.Command.default_settings,
        **PageCommand.default_settings,
    }

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        super().run(args, opts)
        self.report_failures()
