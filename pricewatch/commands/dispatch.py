"""`scrapy dispatch --once`: run one dispatch tick now, or explain what it would do."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from pricewatch import clock
from pricewatch.addon import set_defaults
from pricewatch.console.project_command import BAD_INPUT, ProjectCommand
from pricewatch.console.terminal_io import print_json, print_message, print_table
from pricewatch.errors import UserError

SKIP_REASONS = {
    "disabled": "the market is disabled",
    "not_approved": "its source is not approved",
    "adapter_disabled": "its adapter is disabled",
    "circuit_open": "it failed three times in a row",
    "under_way": "it is already queued or running",
    "failed_recently": "it waits after a failure",
    "not_due": "not due yet",
    "nothing_known": "no discovery has finished yet",
}


class Command(ProjectCommand):
    def syntax(self) -> str:
        return "--once [--dry-run]"

    def short_desc(self) -> str:
        return "Queue the jobs that are due, or explain which would start and why the others would not"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="dispatch once (required)")
        parser.add_argument(
            "--dry-run", action="store_true", help="explain what would be done; change nothing"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is not None:
            set_defaults(self.settings)
        try:
            if args or not opts.once:
                raise UserError(
                    "The daemon dispatches each minute. `scrapy dispatch --once` dispatches now; "
                    "--dry-run only explains what it would do."
                )
            if opts.dry_run:
                self._explain(opts)
            else:
                self._dispatch(opts)
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT

    def _explain(self, opts: argparse.Namespace) -> None:
        from pricewatch.scheduling.dispatch_settings import DispatchSettings
        from pricewatch.scheduling.dispatch_tick import explain_schedule
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_queue

        now, plan = clock.now(), DispatchSettings.of(self.settings)
        with engine().connect() as connection:
            found = explain_schedule(connection, now)
            # Rolled back: a dry run changes nothing.
            admission = target_queue.schedule(connection, now, plan.limits, plan.pace)
            connection.rollback()
        rows: list[dict[str, Any]] = [
            {
                "market": market,
                "spider": verdict.spider,
                "starts": verdict.starts,
                "why": SKIP_REASONS[verdict.why] if verdict.why else None,
                "until": verdict.until,
            }
            for market, verdict in found
        ]
        targets = {
            "targets_accepted": len(admission.accepted),
            "targets_rejected": {str(reason): count for reason, count in admission.reasons.items()},
            "targets_paused_until": admission.paused_until,
        }
        if opts.json:
            print_json([*rows, targets])
            return
        starting = [row for row in rows if row["starts"]]
        skipped = [row for row in rows if not row["starts"]]
        print_table(("market", "spider"), [(row["market"], row["spider"]) for row in starting], "Would start")
        print_table(
            ("market", "spider", "why not", "until (UTC)"),
            [
                (
                    row["market"],
                    row["spider"],
                    row["why"],
                    f"{row['until']:%m-%d %H:%M}" if row["until"] else "",
                )
                for row in skipped
            ],
            "Would not start",
        )
        print(_targets_summary(admission))

    def _dispatch(self, opts: argparse.Namespace) -> None:
        from datetime import timedelta

        from pricewatch.scheduling.dispatch_settings import DispatchSettings
        from pricewatch.scheduling.dispatcher import dispatch_once
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import run_rows

        done = dispatch_once(
            engine().begin,
            DispatchSettings.of(self.settings),
            node=run_rows.node_name(),
            silence=timedelta(minutes=1),
        )
        if done is None:
            raise UserError("Another process is dispatching now. Try again.")
        if opts.json:
            print_json([{"started": done.started, "targets_accepted": len(done.targets.accepted)}])
        else:
            print(f"{done.started} jobs queued. {_targets_summary(done.targets)}")


def _targets_summary(admission: Any) -> str:
    rejected: Counter[Any] = admission.reasons
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
    summary = f"Targets: {len(admission.accepted)} queued, {sum(rejected.values())} rejected"
    summary += f" ({reasons})" if reasons else ""
    if admission.paused_until is not None:
        summary += f"; scheduling of targets is paused until {admission.paused_until:%H:%M} UTC"
    return f"{summary}."
