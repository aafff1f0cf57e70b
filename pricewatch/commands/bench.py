"""`scrapy bench`: the measurement of Scrapy, with our middlewares and without what slows them on purpose."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from scrapy.commands import bench

# It measures against a server of its own, on this machine.
OWN_SERVER = {
    "ALLOWED_PRIVATE_HOSTS": "localhost:8998",
    "RATE_LIMIT_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
}


class Command(bench.Command):
    default_settings: ClassVar[dict[str, Any]] = {**bench.Command.default_settings, "RUN_ENABLED": False}

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None:
            # Before the project's settings, after those of the command line.
            self.settings.setdict(OWN_SERVER, priority="spider")
