"""`scrapy quarantine`: review quarantined offers: list, show, choose the price, accept, reject, replay."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pricewatch import clock
from pricewatch.console import audit_entry, strict_review_action
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import parse_ids, print_json, print_table, progress_bar, user_name
from pricewatch.errors import UserError
from pricewatch.money import Money

if TYPE_CHECKING:
    from pricewatch.services.quarantine_review import Reviewed

DEFAULT_LIMIT = 50
PAGE_SIZE = 100


class Command(ActionCommand):
    name = "quarantine"

    def short_desc(self) -> str:
        return "Review quarantined offers: list, show, choose, accept, reject, replay, strict"

    def add_actions(self) -> None:
        show_all = self.action("list", "List quarantined offers, the newest first")
        show_all.add_argument(
            "--status",
            choices=("pending", "accepted", "rejected", "replayed", "all"),
            default="pending",
            help="only offers with this status (default: pending)",
        )
        show_all.add_argument("--reason", help="only offers with this reason, such as AMBIGUOUS_PRICE")
        show_all.add_argument("--source", metavar="ID", help="only offers of this source")
        show_all.add_argument(
            "--adapter", metavar="ID", help="only offers of this adapter, or of spider:NAME"
        )
        show_all.add_argument(
            "--limit", type=int, default=DEFAULT_LIMIT, metavar="N", help="at most N offers (default: 50)"
        )
        show_all.add_argument("--before", type=int, metavar="ID", help="only offers with lower ids")
        show_all.add_argument("--json", action="store_true", help="print one JSON object per line")
        show = self.action("show", "Show all fields of a quarantined offer")
        show.add_argument("id", metavar="ID")
        show.add_argument("--save", metavar="FILE", help="write the page of the offer to this file")
        choose = self.action(
            "choose",
            "Store the price of one candidate: this is the price",
            "Without NUMBER, the candidates are listed. If the offer belongs to a target, the target reads\n"
            "its price at the same place from now on.",
        )
        choose.add_argument("id", metavar="ID")
        choose.add_argument("number", metavar="NUMBER", nargs="?")
        choose.add_argument("--currency", metavar="CODE", help="the currency, if the page does not name it")
        choose.add_argument(
            "--availability", metavar="WORD", help="IN_STOCK, OUT_OF_STOCK or BACKORDER, if it is not known"
        )
        choose.add_argument(
            "--for-site", action="store_true", help="remember the place of the price for the whole site"
        )
        choose.add_argument("--by", metavar="NAME", help="who decides (default: your login name)")
        for name, summary in (
            ("accept", "Store quarantined offers: they are right"),
            ("reject", "Discard quarantined offers: they are wrong"),
        ):
            parser = self.action(name, summary)
            parser.add_argument("ids", metavar="ID", nargs="+")
            parser.add_argument("--by", metavar="NAME", help="who decides (default: your login name)")
            parser.add_argument("--note", help="why")
        replay = self.action(
            "replay",
            "Read the stored pages again with the current adapters",
            "Shows what would be stored; --apply stores it.",
        )
        replay.add_argument("ids", metavar="ID", nargs="*")
        replay.add_argument("--adapter", metavar="ID", help="all pending offers of this adapter")
        replay.add_argument("--apply", action="store_true", help="store the offers that are valid now")
        replay.add_argument("--by", metavar="NAME", help="who decides (default: your login name)")

        strict = self.action(
            "strict",
            "Let price changes over a percentage wait for a person",
            "For a source, a market or a target. Without arguments, list what has strict review.\n"
            "Example: scrapy quarantine strict source example.com 20",
        )
        strict_review_action.add_arguments(strict)

    def do_strict(self, opts: argparse.Namespace) -> None:
        strict_review_action.run(opts)

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import quarantine_rows

        filters = quarantine_rows.QuarantineFilter(
            status=None if opts.status == "all" else opts.status,
            reason=opts.reason,
            source_id=opts.source,
            adapter_id=opts.adapter,
        )
        with engine().connect() as connection:
            rows = quarantine_rows.find_rows(connection, filters, most=opts.limit, before=opts.before)
        if opts.json:
            print_json(rows)
            return
        if not rows:
            print("No quarantined offers match.")
            return
        columns = ("id", "status", "reason", "price", "stored", "why", "times", "last seen (UTC)", "url")
        print_table(columns, [_cells(row) for row in rows])
        if len(rows) == opts.limit:
            print(f"--before {rows[-1]['id']} shows older ones.")

    def do_show(self, opts: argparse.Namespace) -> None:
        from pricewatch.rules.price_options import price_options
        from pricewatch.store.writing import quarantine_rows

        entry_id = _one_id(opts.id)
        entry = _stored(entry_id)
        page = entry.pop("page")
        if opts.save:
            if page is None:
                raise UserError(f"Offer {entry_id} has no stored page: {quarantine_rows.why_no_page(entry)}.")
            Path(opts.save).write_bytes(page)
            print(f"{len(page)} bytes written to {opts.save}")
            return
        from pricewatch.store.engine.json_safe import json_safe

        choices = [f"{option.number}: {option.describe()}" for option in price_options(entry["details"])]
        shown = {**entry, "page_bytes": len(page) if page is not None else None, "choices": choices}
        print(json.dumps(json_safe(shown), indent=2, ensure_ascii=False))

    def do_choose(self, opts: argparse.Namespace) -> int:
        from pricewatch.services import candidate_choice
        from pricewatch.store.engine.database import engine

        entry_id = _one_id(opts.id)
        if opts.number is None:
            return _print_options(entry_id)
        request = candidate_choice.ChoiceRequest(
            _one_id(opts.number),
            currency=opts.currency or "",
            availability=opts.availability or "",
            for_site=opts.for_site,
        )
        with engine().begin() as connection:
            user = user_name()
            done = candidate_choice.choose(
                connection, entry_id, request, by=opts.by or user, now=clock.now(), user=user
            ).review
        print(_outcome_line(done))
        return 0 if done.would_store else 1

    def do_accept(self, opts: argparse.Namespace) -> int:
        from pricewatch.services import quarantine_review
        from pricewatch.store.engine.database import engine

        refused = 0
        for entry_id in parse_ids(opts.ids):
            with engine().begin() as connection:
                done = quarantine_review.accept(
                    connection, entry_id, by=opts.by or user_name(), note=opts.note, now=clock.now()
                )
                audit_entry.record(connection, "offer accepted", f"offer {entry_id}", by=opts.by)
            refused += not (done.would_store or done.outcome is quarantine_review.Review.NOT_WAITING)
            print(_outcome_line(done))
        return 1 if refused else 0

    def do_reject(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import quarantine_rows

        ids = parse_ids(opts.ids)
        with engine().begin() as connection:
            done = quarantine_rows.reject(
                connection, ids, by=opts.by or user_name(), note=opts.note, now=clock.now()
            )
            audit_entry.record(connection, "offers rejected", f"{len(ids)} offers", by=opts.by, ids=ids)
        print(f"{len(done)} of {len(ids)} rejected; the others were not pending.")

    def do_replay(self, opts: argparse.Namespace) -> int:
        from pricewatch.services import quarantine_review
        from pricewatch.store.engine.database import engine

        ids = parse_ids(opts.ids)
        if bool(ids) == bool(opts.adapter):
            raise UserError("Say which offers: give ids, or --adapter ID for all of an adapter.")
        if opts.adapter:
            ids = _pending_ids(opts.adapter)
        stored = 0
        with progress_bar("Reading pages", len(ids)) as progress:
            for number, entry_id in enumerate(ids, 1):
                with engine().begin() as connection:
                    done = quarantine_review.replay(
                        connection, entry_id, by=opts.by or user_name(), now=clock.now(), apply=opts.apply
                    )
                    if opts.apply:
                        audit_entry.record(connection, "offer replayed", f"offer {entry_id}", by=opts.by)
                stored += done.would_store
                print(_outcome_line(done, dry_run=not opts.apply))
                progress(number)
        print(f"{stored} of {len(ids)} {'stored' if opts.apply else 'would be stored; --apply stores them'}.")
        return 0


def _one_id(text: str) -> int:
    ids = parse_ids([text])
    if len(ids) != 1:
        raise UserError(f"{text!r} is not one number. Example: 17")
    return ids[0]


def _stored(entry_id: int) -> dict[str, Any]:
    from pricewatch.store.engine.database import engine
    from pricewatch.store.writing import quarantine_rows

    with engine().connect() as connection:
        entry = quarantine_rows.get(connection, entry_id)
    if entry is None:
        raise UserError(f"There is no offer {entry_id} in quarantine.")
    return entry


def _print_options(entry_id: int) -> int:
    from pricewatch.rules.price_options import price_options

    options = price_options(_stored(entry_id)["details"])
    if not options:
        raise UserError(f"Offer {entry_id} has no candidates to choose from.")
    rows = [
        (one.number, one.label, ", ".join(one.roles), ", ".join(one.sources), one.text) for one in options
    ]
    print_table(("number", "price", "taken for", "from", "text"), rows)
    return 0


def _pending_ids(adapter_id: str) -> list[int]:
    """Return the ids of all pending offers of an adapter, the oldest first."""
    from pricewatch import adapters
    from pricewatch.store.engine.database import engine
    from pricewatch.store.writing import quarantine_rows

    if why := quarantine_rows.why_no_replay(adapter_id):
        raise UserError(f"These pages cannot be read again: {why}.")
    adapters.get(adapter_id)
    filters = quarantine_rows.QuarantineFilter(status="pending", adapter_id=adapter_id)
    ids: list[int] = []
    with engine().connect() as connection:
        while rows := quarantine_rows.find_rows(
            connection, filters, most=PAGE_SIZE, before=ids[-1] if ids else None
        ):
            ids += [row["id"] for row in rows]
    return ids[::-1]


def _cells(row: dict[str, Any]) -> list[object]:
    offer, details = row["offer"], row["details"]
    price = Money.of(offer.get("price_cents"), offer.get("currency")) or ""
    stored = Money.of(details.get("stored_price_cents"), details.get("currency")) or ""
    why = details.get("why") or ""
    return [
        row["id"],
        row["status"],
        row["reason"],
        price,
        stored,
        why,
        row["times_seen"],
        f"{row['observed_at']:%Y-%m-%d %H:%M}",
        row["url"],
    ]


def _outcome_line(done: Reviewed, *, dry_run: bool = False) -> str:
    from pricewatch.services.quarantine_review import Review

    price = done.offer.price if done.offer else None
    labels = {Review.STORED: "would be stored", Review.UNCHANGED: "would change nothing"} if dry_run else {}
    parts = [f"{done.id}: {labels.get(done.outcome, done.outcome)}"]
    if price:
        parts.append(f"{price}{f' (stored so far: {done.known})' if done.known else ''}")
    return ", ".join([*parts, *([done.details] if done.details else [])])
