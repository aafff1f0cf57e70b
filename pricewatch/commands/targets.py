"""`scrapy targets`: add, import, list and change the URLs that are checked on a schedule."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pricewatch import clock
from pricewatch.console import audit_entry, targets_options
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.project_command import settings_of
from pricewatch.console.terminal_io import (
    confirm,
    is_interactive,
    print_json,
    print_message,
    print_table,
    progress_bar,
    read_bytes,
    user_name,
)
from pricewatch.errors import UserError
from pricewatch.money import Money

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pricewatch.rules.access.addresses import AllowedHosts
    from pricewatch.services.target_import import ImportReport
    from pricewatch.store.queues.target_filter import TargetFilter

MAX_FILE_BYTES = 100 * 1024 * 1024
VALUE_OPTIONS = ("schedule", "priority", "adapter", "render", "notes")


class Command(ActionCommand):
    name = "targets"

    def short_desc(self) -> str:
        return "Check known URLs on a schedule: add, import, list, pause, requeue"

    def add_actions(self) -> None:
        targets_options.add_actions(self)

    def do_add(self, opts: argparse.Namespace) -> int:
        from pricewatch.parsing.url import registrable_domain
        from pricewatch.services import target_import
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_rows
        from pricewatch.store.source_registry import source_rows

        values = _target_values(opts)
        with engine().connect() as connection:
            allowed = self._allowed_hosts(connection)
            sources = source_rows.load(connection)
        new = []
        for url in opts.url:
            try:
                new.append(target_import.check({**values, "url": url}, allowed))
            except target_import.BadTarget as error:
                raise UserError(f"{url} cannot be watched: {error}.") from None
        domains = {registrable_domain(target.url): sources.of(target.url) for target in new}
        unapproved = sorted(name for name, source in domains.items() if not (source and source.is_approved))
        approved = [domain for domain in unapproved if _is_approved(domain, opts)]
        if is_interactive() and len(approved) < len(unapproved):
            raise UserError("Nothing was added.")
        with engine().begin() as connection:
            added = target_rows.add(connection, new, clock.now(), user_name())
            for target in new:
                audit_entry.record(connection, "target added", target.url[:500])
        _store_approvals(approved, unapproved, opts)
        for index, target in enumerate(new):
            target_id = added.ids.get(index)
            existing = "Changed existing target" if index in added.updated else "Already a target"
            print(f"Target {target_id}: {target.url}" if target_id else f"{existing}: {target.url}")
        return 0

    def do_import(self, opts: argparse.Namespace) -> int:
        from pricewatch.parsing.target_csv import read_csv
        from pricewatch.services import target_import
        from pricewatch.store.engine.database import engine

        file = read_csv(read_bytes(opts.file, MAX_FILE_BYTES))
        with engine().connect() as connection, connection.begin() as transaction:
            allowed = self._allowed_hosts(connection)
            with progress_bar("Reading lines", len(file.lines)) as progress:
                report = target_import.import_csv(
                    connection, file, clock.now(), allowed=allowed, created_by=user_name(), progress=progress
                )
            audit_entry.record(connection, "targets imported", f"{len(file.lines)} lines")
            if opts.dry_run:
                transaction.rollback()
        _print_report(report, opts)
        if opts.report:
            with Path(opts.report).open("w", newline="", encoding="utf-8") as output:
                report.write(output)
        if not opts.dry_run:
            approved = [source_id for source_id in report.unapproved if _is_approved(source_id, opts)]
            _store_approvals(approved, report.unapproved, opts)
        return 1 if report.counts[target_import.LineOutcome.REJECTED] else 0

    def _allowed_hosts(self, connection: Connection) -> AllowedHosts:
        from pricewatch.services import target_import

        return target_import.allowed_hosts(connection, settings_of(self).getlist("ALLOWED_PRIVATE_HOSTS"))

    def do_list(self, opts: argparse.Namespace) -> int:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_rows

        filters = _filters(opts, None)
        with engine().connect() as connection:
            rows = target_rows.find_rows(connection, filters, most=opts.limit, after=opts.after)
            total = target_rows.count(connection, filters) if len(rows) == opts.limit else len(rows)
        if opts.json:
            print_json(rows)
            return 0
        if not rows:
            print("No targets match. `scrapy targets add URL` adds one.")
            return 0
        columns = ("id", "status", "queue", "due (UTC)", "last check", "price", "url")
        print_table(columns, [_cells(row) for row in rows])
        if total > len(rows):
            print(f"{len(rows)} of {total}. For more: --after {rows[-1]['id']}, or a higher --limit.")
        return 0

    def do_pause(self, opts: argparse.Namespace) -> int:
        return self._change(opts, "pause", "paused")

    def do_resume(self, opts: argparse.Namespace) -> int:
        return self._change(opts, "resume", "resumed")

    def do_remove(self, opts: argparse.Namespace) -> int:
        return self._change(opts, "remove", "removed")

    def do_requeue(self, opts: argparse.Namespace) -> int:
        from pricewatch.runs.target_plan import limits_of, pace_of
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_queue

        settings = settings_of(self)
        with engine().begin() as connection:
            ids = _selected_ids(connection, opts)
            admission = target_queue.enqueue(
                connection, ids, clock.now(), limits_of(settings), pace_of(settings)
            )
            audit_entry.record_targets(connection, "requeue", ids)
        print(f"{len(admission.accepted)} of {len(ids)} queued.")
        for reason, count in admission.reasons.items():
            wait = max(each.retry_after_ms for each in admission.rejected if each.reason is reason) / 1000
            print(f"{count} rejected ({reason}): try again in {wait:.0f} s.")
        if skipped := len(ids) - admission.offered:
            print(f"{skipped} skipped: already queued, paused, blocked, or of a source that is not approved.")
        return 1 if admission.rejected else 0

    def do_render(self, opts: argparse.Namespace) -> int:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_rows

        with engine().begin() as connection:
            ids = _selected_ids(connection, opts)
            count = target_rows.set_render(connection, ids, opts.render, clock.now())
            audit_entry.record_targets(connection, "render", ids, render=opts.render)
        print(f"{count} of {len(ids)} changed to {opts.render}.")
        return 0

    def _change(self, opts: argparse.Namespace, action: str, participle: str) -> int:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_rows

        with engine().begin() as connection:
            ids = _selected_ids(connection, opts)
            if action == "remove":
                if len(ids) > 1 and not opts.yes and not confirm(f"Remove {len(ids)} targets?"):
                    raise UserError(f"Nothing was removed: --yes removes {len(ids)} targets without asking.")
                count = target_rows.remove(connection, ids)
            else:
                count = getattr(target_rows, action)(connection, ids, clock.now())
            audit_entry.record_targets(connection, action, ids)
        print(f"{count} of {len(ids)} {participle}.")
        return 0


def _target_values(opts: argparse.Namespace) -> dict[str, str]:
    """Return the options of the new targets by the column names of a CSV file."""
    from pricewatch.adapters.custom_selectors import SELECTOR_NAMES

    values = {name: getattr(opts, name) or "" for name in VALUE_OPTIONS}
    for selector in opts.selector:
        field, equals, text = selector.partition("=")
        if not equals:
            raise UserError(f"--selector takes FIELD=SELECTOR, not {selector!r}.")
        if field.strip() not in SELECTOR_NAMES:
            raise UserError(f"There is no selector {field!r}. Known: {', '.join(SELECTOR_NAMES)}.")
        values[field.strip()] = text
    return values


def _is_approved(domain: str, opts: argparse.Namespace) -> bool:
    """Whether the options approve a site, or the user does when asked."""
    return bool(
        opts.yes
        or opts.approved_by
        or confirm(
            f"Nobody has approved fetching from {domain} yet. Have you read its terms of use, "
            "and do they allow pricewatch to fetch from it regularly?"
        )
    )


def _store_approvals(approved: list[str], names: list[str], opts: argparse.Namespace) -> None:
    """Store the approvals, and print how to approve the other sites."""
    from pricewatch.store.engine.database import engine
    from pricewatch.store.source_registry import source_rows

    with engine().begin() as connection:
        for name in names:
            source = source_rows.find(connection, name)
            if name in approved:
                by = opts.approved_by or user_name()
                source_rows.approve(connection, source.id, by, clock.now())
                audit_entry.record(connection, "source approved", source.id, by=by)
            else:
                print_message(
                    f"Nothing is fetched from {source.domain} until somebody approves it: "
                    f"`scrapy sources approve {source.id} --by NAME`."
                )


def _filters(opts: argparse.Namespace, ids: list[int] | None) -> TargetFilter:
    from pricewatch.store.engine.database import engine
    from pricewatch.store.queues.target_filter import TargetFilter
    from pricewatch.store.source_registry import source_rows

    source_id = None
    if opts.source:
        with engine().connect() as connection:
            source_id = source_rows.find(connection, opts.source).id
    return TargetFilter(
        ids=ids,
        status=opts.status,
        source_id=source_id,
        adapter_id=opts.adapter,
        contains=opts.contains,
        due_before=clock.now() if getattr(opts, "due", False) else None,
    )


def _selected_ids(connection: Connection, opts: argparse.Namespace) -> list[int]:
    from pricewatch.store.queues import target_rows

    ids = target_rows.find(connection, opts.targets) if opts.targets else None
    filters = _filters(opts, ids)
    if filters.is_everything:
        raise UserError(
            "Say which targets: by id or URL, or with --status, --source, --adapter or --contains."
        )
    return target_rows.find_ids(connection, filters)


def _cells(row: dict[str, Any]) -> list[object]:
    price = Money.of(row["price_cents"], row["currency"]) or ""
    due = row["next_due_at"]
    due_cell = f"{due:%m-%d %H:%M}" if due else "not approved" if row["tos_approved_by"] is None else ""
    last = " ".join(filter(None, (row["last_status"], row["last_reason"])))
    return [row["id"], row["status"], row["queue_state"], due_cell, last, price, row["url"]]


def _print_report(report: ImportReport, opts: argparse.Namespace) -> None:
    from pricewatch.services.target_import import LineOutcome

    for notice in report.notices:
        print_message(f"{notice}.")
    rejected = [line for line in report.lines if line.outcome is LineOutcome.REJECTED]
    for line in rejected[: targets_options.MAX_ROWS]:
        print(f"line {line.number}: {line.reason}: {line.url[:100]}", file=sys.stderr)
    if len(rejected) > targets_options.MAX_ROWS:
        hint = "" if opts.report else "; --report FILE.csv writes all of them"
        print(f"… and {len(rejected) - targets_options.MAX_ROWS} more{hint}", file=sys.stderr)
    print(f"{report.sentence}{' (dry run: nothing was changed)' if opts.dry_run else ''}.")
