"""`scrapy adapters`: list the adapters with their failure rates; disable and enable them."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch import clock
from pricewatch.console import audit_entry
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import print_json, print_table, user_name
from pricewatch.errors import UserError

ID_HELP = "id of an adapter, or spider:NAME for a custom spider"
SOURCE_HELP = "only for this source (default: for all sources)"


class Command(ActionCommand):
    name = "adapters"

    def short_desc(self) -> str:
        return "List adapters with their failure rates; disable and enable them"

    def add_actions(self) -> None:
        show = self.action("list", "List all adapters with their rates")
        show.add_argument("--json", action="store_true", help="print one JSON object per line")
        disable = self.action("disable", "Refuse all runs that use this adapter")
        disable.add_argument("id", metavar="ID", help=ID_HELP)
        disable.add_argument("--reason", required=True, help="why it is disabled")
        disable.add_argument("--terms", action="store_true", help="the site's terms forbid scraping")
        disable.add_argument("--by", metavar="NAME", help="who disables it (default: your login name)")
        disable.add_argument("--source", metavar="ID", help=SOURCE_HELP)
        enable = self.action("enable", "Allow runs again; the next run is marked as watched")
        enable.add_argument("id", metavar="ID", help=ID_HELP)
        enable.add_argument("--by", metavar="NAME", required=True, help="who approves it")
        enable.add_argument("--note", required=True, help="what was fixed")
        enable.add_argument("--source", metavar="ID", help=SOURCE_HELP)

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.views import adapter_list

        with engine().connect() as connection:
            rows = adapter_list.adapters(connection)
        if opts.json:
            print_json(rows)
            return
        columns = ("adapter", "version", "source", "state", "last failures", "usual", "usual yield", "note")
        print_table(columns, [cells for row in rows for cells in _table_rows(row)])

    def do_disable(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.operations import adapter_status

        source_id = _check_ids(opts.id, opts.source)
        reason = "TOS_VIOLATION" if opts.terms else "MANUAL"
        by = opts.by or user_name()
        with engine().begin() as connection:
            changed = adapter_status.disable(
                connection, opts.id, source_id, reason=reason, by=by, note=opts.reason, now=clock.now()
            )
            details = {"source_id": opts.source, "reason": reason, "note": opts.reason}
            audit_entry.record(connection, "adapter disabled", opts.id, by=by, **details)
        label = adapter_status.sentence_name(opts.id, source_id)
        print(f"The {label} is {'now' if changed else 'already'} disabled.")

    def do_enable(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.operations import adapter_status

        source_id = _check_ids(opts.id, opts.source)
        if not opts.note.strip():
            raise UserError("Say what was fixed: --note TEXT.")
        with engine().begin() as connection:
            changed = adapter_status.enable(
                connection, opts.id, source_id, by=opts.by, note=opts.note, now=clock.now()
            )
            details = {"source_id": opts.source, "note": opts.note}
            audit_entry.record(connection, "adapter enabled", opts.id, by=opts.by, **details)
        suffix = "; its next run is watched" if changed else ""
        label = adapter_status.sentence_name(opts.id, source_id)
        print(f"The {label} is {'now' if changed else 'already'} enabled{suffix}.")


def _check_ids(adapter_id: str, source_id: str | None) -> str:
    """Return the source id, or `EVERY_SOURCE`; raise `UserError` for an unknown adapter or source."""
    from pricewatch.store.engine.database import engine
    from pricewatch.store.models.operation_tables import EVERY_SOURCE
    from pricewatch.store.source_registry import source_rows
    from pricewatch.store.views import adapter_list

    with engine().connect() as connection:
        adapter_list.check_known(connection, adapter_id)
        return EVERY_SOURCE if source_id is None else source_rows.find(connection, source_id).id


def _table_rows(row: dict[str, Any]) -> list[list[object]]:
    """Return a row per source; plus one for the adapter if it has no source or is disabled."""
    sources = [_cells(row, source) for source in row["by_source"]]
    return sources if sources and row["enabled"] else [_cells(row, row), *sources]


def _cells(adapter: dict[str, Any], row: dict[str, Any]) -> list[object]:
    state = "enabled" if row["enabled"] else f"disabled ({row['disabled_reason']})"
    if row.get("watch_next_run"):
        state += ", next run watched"
    names = ("last_batch_failure_rate", "baseline_failure_rate", "baseline_yield_rate")
    rates = ["" if row.get(name) is None else f"{float(row[name]):.0%}" for name in names]
    version = adapter["version"] or ("" if adapter["spider"] else "not registered")
    return [adapter["adapter_id"], version, row.get("source_id"), state, *rates, row.get("note")]
