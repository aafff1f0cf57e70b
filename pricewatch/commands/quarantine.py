"""`scrapy quarantine`: what is held, with the page it came from; accepted, rejected, or read again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pricewatch import clock
from pricewatch.console.action_command import ActionCommand
from pricewatch.console.terminal_io import parse_ids, print_json, print_table, progress_bar, user_name
from pricewatch.errors import UserError
from pricewatch.money import Money

if TYPE_CHECKING:
    from pricewatch.services.quarantine_review import Reviewed

MOST_SHOWN = 50
CHUNK = 100


class Command(ActionCommand):
    name = "quarantine"

    def short_desc(self) -> str:
        return "Review offers that are held: list, show, accept, reject, replay"

    def add_actions(self) -> None:
        show_all = self.action("list", "Show what is held, the newest first")
        show_all.add_argument(
            "--status", choices=("pending", "accepted", "rejected", "replayed", "all"), default="pending"
        )
        show_all.add_argument("--reason", help="only held for this reason, such as AMBIGUOUS_PRICE")
        show_all.add_argument("--source", metavar="ID", help="only of this source")
        show_all.add_argument("--adapter", metavar="ID", help="only read by this adapter, or by spider:NAME")
        show_all.add_argument("--limit", type=int, default=MOST_SHOWN, help="at most this many (default: 50)")
        show_all.add_argument("--before", type=int, metavar="ID", help="only with lower numbers")
        show_all.add_argument("--json", action="store_true", help="one JSON object per line")
        show = self.action("show", "Show one held offer with everything that is known about it")
        show.add_argument("id", metavar="ID")
        show.add_argument("--save", metavar="FILE", help="write the page that it came from to this file")
        for name, summary in (
            ("accept", "Store held offers: they are right"),
            ("reject", "Throw held offers out: they are wrong"),
        ):
            parser = self.action(name, summary)
            parser.add_argument("ids", metavar="ID", nargs="+")
            parser.add_argument("--by", metavar="NAME", help="who says so (default: you)")
            parser.add_argument("--note", help="why")
        replay = self.action(
            "replay",
            "Read the kept pages again with the adapters as they are now",
            "Shows what would be stored; --apply stores it.",
        )
        replay.add_argument("ids", metavar="ID", nargs="*")
        replay.add_argument("--adapter", metavar="ID", help="all that is held of this adapter")
        replay.add_argument("--apply", action="store_true", help="store what can be stored now")
        replay.add_argument("--by", metavar="NAME", help="who says so (default: you)")

    def do_list(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import quarantine_rows

        wanted = quarantine_rows.HeldWanted(
            status=None if opts.status == "all" else opts.status,
            reason=opts.reason,
            source_id=opts.source,
            adapter_id=opts.adapter,
        )
        with engine().connect() as connection:
            rows = quarantine_rows.listed(connection, wanted, most=opts.limit, before=opts.before)
        if opts.json:
            print_json(rows)
            return
        if not rows:
            print("Nothing of that kind is held.")
            return
        columns = ("id", "status", "reason", "price", "stored", "why", "times", "last seen (UTC)", "url")
        print_table(columns, [_cells(row) for row in rows])
        if len(rows) == opts.limit:
            print(f"--before {rows[-1]['id']} shows older ones.")

    def do_show(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import quarantine_rows

        (held_id,) = parse_ids([opts.id])
        with engine().connect() as connection:
            held = quarantine_rows.get(connection, held_id)
        if held is None:
            raise UserError(f"There is no offer {held_id} in quarantine.")
        page = held.pop("page")
        if opts.save:
            if page is None:
                raise UserError(f"No page is kept with {held_id}: {quarantine_rows.no_page(held)}.")
            Path(opts.save).write_bytes(page)
            print(f"{len(page)} bytes written to {opts.save}")
            return
        from pricewatch.store.engine.json_safe import json_safe

        shown = {**held, "page_bytes": len(page) if page is not None else None}
        print(json.dumps(json_safe(shown), indent=2, ensure_ascii=False))

    def do_accept(self, opts: argparse.Namespace) -> int:
        from pricewatch.services import quarantine_review
        from pricewatch.store.engine.database import engine

        refused = 0
        for held_id in parse_ids(opts.ids):
            with engine().begin() as connection:
                done = quarantine_review.accept(
                    connection, held_id, by=opts.by or user_name(), note=opts.note, now=clock.now()
                )
            refused += not (done.would_store or done.outcome is quarantine_review.Review.NOT_WAITING)
            print(_told(done))
        return 1 if refused else 0

    def do_reject(self, opts: argparse.Namespace) -> None:
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import quarantine_rows

        ids = parse_ids(opts.ids)
        with engine().begin() as connection:
            done = quarantine_rows.reject(
                connection, ids, by=opts.by or user_name(), note=opts.note, now=clock.now()
            )
        print(f"{len(done)} of {len(ids)} rejected; the others were not waiting.")

    def do_replay(self, opts: argparse.Namespace) -> int:
        from pricewatch.services import quarantine_review
        from pricewatch.store.engine.database import engine

        ids = parse_ids(opts.ids)
        if bool(ids) == bool(opts.adapter):
            raise UserError("Say which: numbers, or --adapter ID for all that is held of it.")
        if opts.adapter:
            ids = _waiting_of(opts.adapter)
        stored = 0
        with progress_bar("Reading again", len(ids)) as progress:
            for place, held_id in enumerate(ids, 1):
                with engine().begin() as connection:
                    done = quarantine_review.replay(
                        connection, held_id, by=opts.by or user_name(), now=clock.now(), apply=opts.apply
                    )
                stored += done.would_store
                print(_told(done, would=not opts.apply))
                progress(place)
        print(f"{stored} of {len(ids)} {'stored' if opts.apply else 'would be stored; --apply stores them'}.")
        return 0


def _waiting_of(adapter_id: str) -> list[int]:
    """All that waits of an adapter, the oldest first, as it was seen."""
    from pricewatch import adapters
    from pricewatch.store.engine.database import engine
    from pricewatch.store.writing import quarantine_rows

    if why := quarantine_rows.no_replay(adapter_id):
        raise UserError(f"Nothing is read again: {why}.")
    adapters.get(adapter_id)
    wanted = quarantine_rows.HeldWanted(status="pending", adapter_id=adapter_id)
    ids: list[int] = []
    with engine().connect() as connection:
        while rows := quarantine_rows.listed(connection, wanted, most=CHUNK, before=ids[-1] if ids else None):
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


def _told(done: Reviewed, *, would: bool = False) -> str:
    from pricewatch.services.quarantine_review import Review

    price = done.offer.price if done.offer else None
    said = {Review.STORED: "would be stored", Review.UNCHANGED: "would change nothing"} if would else {}
    parts = [f"{done.id}: {said.get(done.outcome, done.outcome)}"]
    if price:
        parts.append(f"{price}{f' (stored so far: {done.known})' if done.known else ''}")
    return ", ".join([*parts, *([done.details] if done.details else [])])
