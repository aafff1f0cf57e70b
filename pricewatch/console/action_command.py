"""The base class of commands with several actions, such as `scrapy markets list`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import ClassVar

from pricewatch.addon import set_defaults
from pricewatch.console.project_command import BAD_INPUT, ProjectCommand
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError


class ActionCommand(ProjectCommand):
    """`scrapy NAME ACTION …`: each action has its own options and help, and a method `do_ACTION`."""

    name: ClassVar[str]

    def syntax(self) -> str:
        return "ACTION [options]"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        self._actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
        self.add_actions()

    def add_actions(self) -> None:
        raise NotImplementedError

    def action(self, name: str, summary: str, epilog: str = "") -> argparse.ArgumentParser:
        """Add an action and return the parser of its options."""
        parser: argparse.ArgumentParser = self._actions.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=epilog,
            prog=f"scrapy {self.name} {name}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        return parser

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        method: Callable[[argparse.Namespace], int | None]
        method = getattr(self, f"do_{opts.action.replace('-', '_')}")
        if self.settings is not None:
            # A project that only imports these commands may not have pricewatch's settings.
            set_defaults(self.settings)
        try:
            if args:
                raise UserError(
                    f"Unknown argument {' '.join(args)!r}. `scrapy {self.name} {opts.action} -h` lists the "
                    "known ones."
                )
            self.exitcode = method(opts) or 0
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT
