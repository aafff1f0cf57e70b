"""`scrapy cluster`: several daemons on this machine that share the work, until Ctrl-C."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand

from pricewatch.console.action_command import BAD_INPUT, say
from pricewatch.errors import UserError
from pricewatch.scheduling import daemons

MOST_NODES = 32


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def short_desc(self) -> str:
        return "Start several daemons on this machine, as a cluster to try"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--nodes", type=int, default=3, metavar="N", help="how many (default: 3)")
        parser.add_argument("--port", type=int, default=6800, help="the first one's; the others follow")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine, shown, var_directory

        try:
            if not 1 <= opts.nodes <= MOST_NODES:
                raise UserError(f"--nodes takes a number from 1 to {MOST_NODES}.")
            ports = range(opts.port, opts.port + opts.nodes)
            for port in ports:
                daemons.check_port(port)
            where = shown(engine().url)
        except UserError as error:
            say(str(error))
            self.exitcode = BAD_INPUT
            return
        print(f"The nodes share the database at {where}")
        started = []
        for number, port in enumerate(ports, 1):
            log = var_directory() / "cluster" / f"node-{number}.log"
            started.append(daemons.start(log, port=port, node=f"node-{number}"))
            print(f"node-{number} is at http://127.0.0.1:{port}/ and logs to {log}")
        print("Ctrl-C ends them; spiders that run are given a minute to come to an end.", flush=True)
        self.exitcode = daemons.watch(started)
