"""`scrapy quarantine strict`: whose price changes wait for a person."""

from __future__ import annotations

import argparse

from pricewatch import clock
from pricewatch.console import audit_entry
from pricewatch.console.terminal_io import print_table, user_name
from pricewatch.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", nargs="?", help="source, market or target")
    parser.add_argument("subject", metavar="ID", nargs="?")
    parser.add_argument("percent", metavar="PERCENT", nargs="?", help="a percentage, or off")
    parser.add_argument("--by", metavar="NAME", help="who decides (default: your login name)")


def run(opts: argparse.Namespace) -> None:
    from pricewatch.store.engine.database import engine
    from pricewatch.store.writing import strict_review_rows

    if opts.kind is None:
        _show()
        return
    if opts.percent is None:
        raise UserError("Say for what, and the percentage: strict source example.com 20")
    percent = None if opts.percent == "off" else _percent(opts.percent)
    with engine().begin() as connection:
        strict_review_rows.set_percent(
            connection, opts.kind, opts.subject, percent, by=opts.by or user_name(), now=clock.now()
        )
        subject = f"{opts.kind} {opts.subject}"
        audit_entry.record(connection, "strict review", subject, by=opts.by, percent=percent)
    done = "off" if percent is None else f"on for changes over {percent:g} %"
    print(f"{subject}: strict review is {done}.")


def _show() -> None:
    from pricewatch.store.engine.database import engine
    from pricewatch.store.writing import strict_review_rows

    with engine().connect() as connection:
        rows = strict_review_rows.find(connection)
    if not rows:
        print("Strict review is not in use.")
        return
    names = ("kind", "subject", "name", "percent", "created_by")
    print_table(("kind", "id", "name", "percent", "by"), [[str(row[name]) for name in names] for row in rows])


def _percent(text: str) -> float:
    try:
        return float(text.rstrip("%"))
    except ValueError:
        raise UserError(f"{text[:20]!r} is not a percentage. Example: 20") from None
