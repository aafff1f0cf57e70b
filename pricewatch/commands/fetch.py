"""`scrapy fetch URL` by our rules: no run is opened, and a page that is not fetched says why."""

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
        self.tell_unfetched()
