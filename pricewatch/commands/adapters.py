"""`scrapy adapters`: which there are, how they fare, and who switched them off or on."""

from __future__ import annotations

import argparse
from typing import Any

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.shell import ActionCommand, print_json, print_table, user_name


class Command(ActionCommand):
    name = "adapters"

    def short_desc(self) -> str:
        return "Show how the adapters fare; disable and enable them"

    def add_actions(self) -> None:
        show = self.action("list", "Show all adapters with their rates")
        show.add_argument("--json", action="store_true", help="one JSON object per line")
        disable = self.action("disable", "Let no run start that reads with this adapter")
        disable.add_argument("id", metavar="ID")
        disable.add_argument("--reason", required=True, help="why, for whoever finds it disabled")
        disable.add_argument("--terms", action="store_true", help="because the site's terms forbid it")
        disable.add_argument("--by", metavar="NAME", help="who does so (default: you)")
        enable = self.action("enable", "Let runs start again; the first one is marked as watched")
        enable.add_argument("id", metavar="ID")
        enable.add_argument("--by", metavar="NAME", required=True, help="who answers for it")
        enable.add_argument("--note", required=True, help="what was done about it")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch import adapters
        from pricewatch.store import drift
        from pricewatch.store.database import engine

        with engine().connect() as connection:
            found = drift.statuses(connection)
        rows: list[dict[str, Any]] = []
        for adapter_id in sorted({*adapters.known(), *found}):
            registered = adapter_id in adapters.known()
            adapter = adapters.get(adapter_id) if registered else None
            rows.append(
                {
                    "adapter_id": adapter_id,
                    "enabled": True,
                    "version": adapter.version if adapter else None,
                    "domain": adapter.domain if adapter else None,
                    **found.get(adapter_id, {}),
                }
            )
        if opts.json:
            print_json(rows)
            return
        columns = ("adapter", "version", "domain", "state", "last failures", "usual", "usual yield", "note")
        print_table(columns, [_cells(row) for row in rows])

    def do_disable(self, opts: argparse.Namespace) -> None:
        from pricewatch import adapters
        from pricewatch.store import drift
        from pricewatch.store.database import engine

        adapters.get(opts.id)
        reason = "TOS_VIOLATION" if opts.terms else "MANUAL"
        by = opts.by or user_name()
        with engine().begin() as connection:
            done = drift.disable(connection, opts.id, reason=reason, by=by, note=opts.reason, now=clock.now())
        print(f"The adapter {opts.id} is {'now' if done else 'already'} disabled.")

    def do_enable(self, opts: argparse.Namespace) -> None:
        from pricewatch import adapters
        from pricewatch.store import drift
        from pricewatch.store.database import engine

        adapters.get(opts.id)
        if not opts.note.strip():
            raise UserError("Say what was done about it, with --note.")
        with engine().begin() as connection:
            done = drift.enable(connection, opts.id, by=opts.by, note=opts.note, now=clock.now())
        rest = "; its next run is watched" if done else ""
        print(f"The adapter {opts.id} is {'now' if done else 'already'} enabled{rest}.")


def _cells(row: dict[str, Any]) -> list[object]:
    state = "enabled" if row["enabled"] else f"disabled ({row['disabled_reason']})"
    if row.get("watch_next_run"):
        state += ", next run watched"
    names = ("last_batch_failure_rate", "baseline_failure_rate", "baseline_yield_rate")
    rates = ["" if row.get(name) is None else f"{float(row[name]):.0%}" for name in names]
    version = row["version"] or "not registered"
    return [row["adapter_id"], version, row["domain"], state, *rates, row.get("note")]
