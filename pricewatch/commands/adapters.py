"""`scrapy adapters`: which there are, how they fare, and who switched them off or on."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch import clock
from pricewatch.console.action_command import ActionCommand, print_json, print_table, user_name
from pricewatch.errors import UserError

ID_HELP = "an adapter, or spider:NAME for a spider that reads its pages itself"


class Command(ActionCommand):
    name = "adapters"

    def short_desc(self) -> str:
        return "Show how the adapters fare; disable and enable them"

    def add_actions(self) -> None:
        show = self.action("list", "Show all adapters with their rates")
        show.add_argument("--json", action="store_true", help="one JSON object per line")
        disable = self.action("disable", "Let no run start that reads with this adapter")
        disable.add_argument("id", metavar="ID", help=ID_HELP)
        disable.add_argument("--reason", required=True, help="why, for whoever finds it disabled")
        disable.add_argument("--terms", action="store_true", help="because the site's terms forbid it")
        disable.add_argument("--by", metavar="NAME", help="who does so (default: you)")
        disable.add_argument("--source", metavar="ID", help="only for this source (default: for every one)")
        enable = self.action("enable", "Let runs start again; the first one is marked as watched")
        enable.add_argument("id", metavar="ID", help=ID_HELP)
        enable.add_argument("--by", metavar="NAME", required=True, help="who answers for it")
        enable.add_argument("--note", required=True, help="what was done about it")
        enable.add_argument("--source", metavar="ID", help="only for this source (default: for every one)")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import adapter_list

        with engine().connect() as connection:
            rows = adapter_list.adapters(connection)
        if opts.json:
            print_json(rows)
            return
        columns = ("adapter", "version", "source", "state", "last failures", "usual", "usual yield", "note")
        print_table(columns, [cells for row in rows for cells in _lines(row)])

    def do_disable(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import adapter_status

        source_id = _checked(opts.id, opts.source)
        reason = "TOS_VIOLATION" if opts.terms else "MANUAL"
        by = opts.by or user_name()
        with engine().begin() as connection:
            done = adapter_status.disable(
                connection, opts.id, source_id, reason=reason, by=by, note=opts.reason, now=clock.now()
            )
        whose = adapter_status.named(opts.id, source_id)
        print(f"The {whose} is {'now' if done else 'already'} disabled.")

    def do_enable(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import adapter_status

        source_id = _checked(opts.id, opts.source)
        if not opts.note.strip():
            raise UserError("Say what was done about it, with --note.")
        with engine().begin() as connection:
            done = adapter_status.enable(
                connection, opts.id, source_id, by=opts.by, note=opts.note, now=clock.now()
            )
        rest = "; its next run is watched" if done else ""
        whose = adapter_status.named(opts.id, source_id)
        print(f"The {whose} is {'now' if done else 'already'} enabled{rest}.")


def _checked(adapter_id: str, source_id: str | None) -> str:
    """The source that is meant, or every one; refuses an adapter or a source that is not there."""
    from pricewatch.store.engine.database import engine
    from pricewatch.store.models.operation_tables import EVERY_SOURCE
    from pricewatch.store.views import adapter_list
    from pricewatch.store.writing import source_rows

    with engine().connect() as connection:
        adapter_list.check(connection, adapter_id)
        return EVERY_SOURCE if source_id is None else source_rows.find(connection, source_id).id


def _lines(row: dict[str, Any]) -> list[list[object]]:
    """One line for each source; one for the adapter itself where it has none, or is switched off."""
    sources = [_cells(row, one) for one in row["by_source"]]
    return sources if sources and row["enabled"] else [_cells(row, row), *sources]


def _cells(adapter: dict[str, Any], row: dict[str, Any]) -> list[object]:
    state = "enabled" if row["enabled"] else f"disabled ({row['disabled_reason']})"
    if row.get("watch_next_run"):
        state += ", next run watched"
    names = ("last_batch_failure_rate", "baseline_failure_rate", "baseline_yield_rate")
    rates = ["" if row.get(name) is None else f"{float(row[name]):.0%}" for name in names]
    version = adapter["version"] or ("" if adapter["spider"] else "not registered")
    return [adapter["adapter_id"], version, row.get("source_id"), state, *rates, row.get("note")]
