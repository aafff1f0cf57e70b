"""What commands with several actions share: options, one sentence for what is wrong, tables and JSON."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from pricewatch.addon import set_defaults
from pricewatch.errors import UserError
from pricewatch.store.engine.json_safe import json_safe

BAD_INPUT = 2


class ActionCommand(ScrapyCommand):
    """`scrapy NAME ACTION …`: every action has its own options, its own help, and a method of its name."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy
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
        parser = self._actions.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=epilog,
            prog=f"scrapy {self.name} {name}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added: argparse.ArgumentParser = parser
        return added

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        act: Callable[[argparse.Namespace], int | None] = getattr(self, f"do_{opts.action.replace('-', '_')}")
        if self.settings is not None:
            # Another project that has these commands need not have our settings.
            set_defaults(self.settings)
        try:
            if args:
                help_ = f"`scrapy {self.name} {opts.action} -h`"
                raise UserError(f"What is {' '.join(args)!r}? {help_} says what it takes.")
            self.exitcode = act(opts) or 0
        except UserError as error:
            say(str(error))
            self.exitcode = BAD_INPUT

    @property
    def given_settings(self) -> BaseSettings:
        if self.settings is None:
            raise RuntimeError("scrapy sets this before it runs a command")
        return self.settings


def wants_log(settings: BaseSettings) -> bool:
    """Whether the person at the shell chose how to log, or asked for what only the log shows."""
    chosen = (settings.getpriority(name) or 0 for name in ("LOG_LEVEL", "LOG_FILE", "LOG_ENABLED"))
    return max(chosen) >= SETTINGS_PRIORITIES["cmdline"] or settings.getbool("STATS_DUMP")


def say(sentence: str) -> None:
    print(f"pricewatch: {sentence}", file=sys.stderr)


def ask(question: str) -> bool:
    """Ask a person; nobody there is a no."""
    if not is_attended():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_attended() -> bool:
    """Whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def user_name() -> str:
    """Who is at the keyboard, as far as the system knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def numbers(texts: Sequence[str]) -> list[int]:
    """Numbers as people give them: apart, or with commas."""
    found = [one for text in texts for one in text.replace(",", " ").split()]
    for one in found:
        if not (one.isascii() and one.isdigit()):
            raise UserError(f"{one!r} is no number.")
    return [int(one[:18]) for one in found]


def print_json(rows: Iterable[dict[str, Any]]) -> None:
    """One object per line, for programs."""
    for row in rows:
        print(json.dumps(json_safe(row), ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*columns, title=title or None, title_justify="left")
    for row in rows:
        # What a site wrote is text, whatever it looks like.
        table.add_row(*("" if cell is None else escape(str(cell)) for cell in row))
    # Nothing is cut where a program reads along.
    Console(width=None if sys.stdout.isatty() else 250).print(table)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows how far it is, where somebody watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.update(task, completed=done)


def read_bytes(name: str, most: int) -> bytes:
    """A file, or standard input for `-`."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(most + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror or error}.") from None
    if len(data) > most:
        raise UserError(f"{name} is larger than {most // 2**20} MB: split it.")
    return data
