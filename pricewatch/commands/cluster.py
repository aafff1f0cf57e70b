"""`scrapy cluster`: run several daemons on this machine that share the work, until Ctrl-C."""

from __future__ import annotations

import argparse

from pricewatch.console.project_command import BAD_INPUT, ProjectCommand
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.scheduling import daemons

MAX_NODES = 32


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Start several daemons on this machine, to try a cluster"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--nodes", type=int, default=3, metavar="N", help="number of daemons (default: 3)"
        )
        parser.add_argument(
            "--port", type=int, default=6800, help="port of the first daemon; the others use the next ones"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine, safe_url, var_directory
        from pricewatch.store.engine.private_files import private_directory

        try:
            if not 1 <= opts.nodes <= MAX_NODES:
                raise UserError(f"--nodes takes a number from 1 to {MAX_NODES}.")
            ports = range(opts.port, opts.port + opts.nodes)
            for port in ports:
                daemons.check_port(port)
            url = safe_url(engine().url)
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT
            return
        print(f"The nodes share the database at {url}")
        started = []
        for number, port in enumerate(ports, 1):
            log = private_directory(var_directory()) / "cluster" / f"node-{number}.log"
            started.append(daemons.start(log, port=port, node=f"node-{number}"))
            print(f"node-{number} is at http://127.0.0.1:{port}/ and logs to {log}")
        print("Ctrl-C stops them; running spiders get a minute to finish.", flush=True)
        self.exitcode = daemons.watch(started)
