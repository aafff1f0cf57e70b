"""`scrapy bench`: Scrapy's benchmark with pricewatch's middlewares, without rate limit and robots.txt."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from scrapy.commands import bench

# The benchmark starts its own server on this machine.
LOCAL_SERVER = {
    "ALLOWED_PRIVATE_HOSTS": "localhost:8998",
    "RATE_LIMIT_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
}


class Command(bench.Command):
    default_settings: ClassVar[dict[str, Any]] = {**bench.Command.default_settings, "RUN_ENABLED": False}

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None:
            # Overrides the project's settings, but not those of the command line.
            self.settings.setdict(LOCAL_SERVER, priority="spider")
