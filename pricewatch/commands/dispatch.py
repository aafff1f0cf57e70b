"""`scrapy dispatch --once`: what the daemon does each minute, now; or only what it would do, and why."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from scrapy.commands import ScrapyCommand

from pricewatch import clock
from pricewatch.addon import set_defaults
from pricewatch.console.action_command import BAD_INPUT, print_json, print_table, say
from pricewatch.errors import UserError

WORDS = {
    "disabled": "the market is disabled",
    "not_approved": "nobody has approved its source",
    "adapter_disabled": "its adapter is disabled",
    "circuit_open": "it failed three times in a row",
    "under_way": "it waits or runs already",
    "failed_recently": "it rests after a failure",
    "not_due": "not due yet",
    "nothing_known": "no discovery has come to an end yet",
}


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by scrapy

    def syntax(self) -> str:
        return "--once [--dry-run]"

    def short_desc(self) -> str:
        return "Queue what is due, or say what would be and why the rest would not"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="look at what is due, one time")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="one JSON object per line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is not None:
            set_defaults(self.settings)
        try:
            if args or not opts.once:
                raise UserError(
                    "The daemon dispatches each minute by itself: `scrapy dispatch --once` does so now, "
                    "and --dry-run only says what it would do."
                )
            if opts.dry_run:
                self._explain(opts)
            else:
                self._dispatch(opts)
        except UserError as error:
            say(str(error))
            self.exitcode = BAD_INPUT

    def _explain(self, opts: argparse.Namespace) -> None:
        from pricewatch.scheduling.dispatch_settings import DispatchPlan
        from pricewatch.scheduling.dispatch_tick import verdicts
        from pricewatch.store.engine.database import engine
        from pricewatch.store.queues import target_queue

        now, plan = clock.now(), DispatchPlan.of(self.settings)
        with engine().connect() as connection:
            found = verdicts(connection, now)
            # Done and taken back.
            admission = target_queue.schedule(connection, now, plan.limits, plan.pace)
            connection.rollback()
        rows: list[dict[str, Any]] = [
            {
                "market": market,
                "spider": verdict.spider,
                "starts": verdict.starts,
                "why": WORDS[verdict.why] if verdict.why else None,
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
        rest = [row for row in rows if not row["starts"]]
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
                for row in rest
            ],
            "Would not start",
        )
        print(_sentence(admission))

    def _dispatch(self, opts: argparse.Namespace) -> None:
        from datetime import timedelta

        from pricewatch.scheduling.dispatch_settings import DispatchPlan
        from pricewatch.scheduling.dispatcher import dispatch_once
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import run_rows

        done = dispatch_once(
            engine().begin,
            DispatchPlan.of(self.settings),
            node=run_rows.node_name(),
            silence=timedelta(minutes=1),
        )
        if done is None:
            raise UserError("Somebody else is dispatching this moment: try again.")
        if opts.json:
            print_json([{"started": done.started, "targets_accepted": len(done.targets.accepted)}])
        else:
            print(f"{done.started} jobs queued. {_sentence(done.targets)}")


def _sentence(admission: Any) -> str:
    rejected: Counter[Any] = admission.reasons
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
    told = f"Targets: {len(admission.accepted)} let into the queue, {sum(rejected.values())} rejected"
    told += f" ({reasons})" if reasons else ""
    if admission.paused_until is not None:
        told += f"; scheduling of targets rests until {admission.paused_until:%H:%M} UTC"
    return f"{told}."
