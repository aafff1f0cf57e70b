"""Input and output of commands: messages, questions, tables, JSON lines, progress bars and files."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pricewatch.errors import UserError
from pricewatch.store.engine.json_safe import json_safe


def print_message(message: str) -> None:
    """Print a message to standard error, so that standard output has only results."""
    print(f"pricewatch: {message}", file=sys.stderr)


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; without a terminal, the answer is no."""
    if not is_interactive():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_interactive() -> bool:
    """Whether a person can read a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def user_name() -> str:
    """Return the login name of the user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def parse_ids(arguments: Sequence[str]) -> list[int]:
    """Parse ids that are separated by spaces or commas."""
    parts = [part for argument in arguments for part in argument.replace(",", " ").split()]
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise UserError(f"{part!r} is not an id. Example: 17")
    return [int(part[:18]) for part in parts]


def print_json(rows: Iterable[dict[str, Any]]) -> None:
    """Print one JSON object per line."""
    for row in rows:
        print(json.dumps(json_safe(row), ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*columns, title=title or None, title_justify="left")
    for row in rows:
        # Cells may hold text from websites, which must not be read as markup.
        table.add_row(*("" if cell is None else escape(str(cell)) for cell in row))
    # A file or a pipe gets all of the text.
    Console(width=None if sys.stdout.isatty() else 250).print(table)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal; yields a function that takes the number of finished steps."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total)
        yield lambda completed: bar.update(task, completed=completed)


def read_bytes(name: str, max_bytes: int) -> bytes:
    """Read a file, or standard input for `-`."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(max_bytes + 1)
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror or error}.") from None
    if len(data) > max_bytes:
        raise UserError(f"{name} is larger than {max_bytes // 2**20} MB: split it.")
    return data
