"""`scrapy web`: serve the web interface without the daemon."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch.console.project_command import ProjectCommand
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError


class Command(ProjectCommand):
    def short_desc(self) -> str:
        return "Serve the web interface without the daemon; it schedules nothing"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--address", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
        )
        parser.add_argument(
            "--port", type=int, default=6801, help="port; 0 for any free port (default: 6801)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from scrapyd.config import Config
        from twisted.internet import reactor as the_reactor
        from twisted.internet.error import CannotListenError

        from pricewatch.store.engine.database import engine
        from pricewatch.web.auth import Auth
        from pricewatch.web.configuration import Configuration, check_address
        from pricewatch.web.server.limited_site import LimitedSite
        from pricewatch.web.server.request_limits import RequestLimits
        from pricewatch.web.twisted_site import resource

        reactor: Any = the_reactor
        try:
            limits = RequestLimits.from_config(Config())
            configuration = Configuration.from_environment(limits=limits)
            check_address(opts.address, configuration)
            site = LimitedSite(resource(reactor, configuration), Auth(configuration, engine()), limits)
            port = reactor.listenTCP(opts.port, site, interface=opts.address)
        except (CannotListenError, OverflowError, UserError) as error:
            if isinstance(error, UserError):
                print_message(str(error))
            else:
                why = getattr(error, "socketError", error)
                print_message(
                    f"Cannot listen on {opts.address}, port {opts.port} ({why}). Choose another port."
                )
            self.exitcode = 1
            return
        print(f"http://{opts.address}:{port.getHost().port}/", flush=True)
        reactor.run()
