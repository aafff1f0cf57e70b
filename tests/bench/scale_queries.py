"""What is asked of the store: by people, by programs, by the dispatcher, and by each spider."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from pricewatch.money import Money
from pricewatch.queued_work import VerificationCandidate
from pricewatch.rules.freshness import CLOCKS_APART, falls_below
from pricewatch.rules.market_membership import PriceRange
from pricewatch.services import health_checks
from pricewatch.store.people import watch_rules
from pricewatch.store.queues import dispatch_state, target_queue, target_rows
from pricewatch.store.queues.target_rows import NewTarget, Wanted
from pricewatch.store.views import admin_listings, dashboard, gauges, market_list, public_listings, run_list
from pricewatch.store.views.admin_listings import ListingsWanted
from pricewatch.store.writing import (
    collected_cards,
    detail_queue,
    held_jumps,
    history_append,
    incoming_rows,
    listing_upsert,
    market_sync,
    product_links,
    verification_rows,
)
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.store.writing.market_rows import load_market
from tests.bench.filling import MARKETS, NOW
from tests.bench.targets import LIMITS

Query = Callable[[Connection], Any]
RUN = 1
WRITES: list[Write] = [held_jumps.hold, listing_upsert.upsert, history_append.append, product_links.request]
# Spread over the whole table, and asked for again and again, so that they are in memory at any size: what is
# not there costs a read of the disk for each page, which is the disk's business and not the query's.
OFTEN = 400
# Nobody asks that much: all that may be looked at is looked at.
DEAR = 8_999_900


def queries(size: int) -> dict[str, Query]:
    """By name; each call asks for something else of its kind."""
    chance = random.Random(size)
    dear = {"prices": PriceRange(Money(DEAR, "EUR"))}

    often = [chance.randrange(2_000, size) + 1 for _ in range(OFTEN)]

    def some() -> int:
        return chance.choice(often)

    def market() -> str:
        return f"m{chance.randrange(MARKETS)}"

    def ids(most: int) -> list[int]:
        return sorted({some() for _ in range(most)})

    def page(of: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: admin_listings.listings_page(c, ListingsWanted(**of()), now=NOW, most=50)

    def seen(of: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: public_listings.listings(c, ListingsWanted(**of()), 50)

    def runs(of: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: run_list.runs(c, most=50, **of())

    def rare_word() -> dict[str, Any]:
        return {"words": f"carbon no{chance.randrange(size)}"}

    def of_market() -> dict[str, Any]:
        return {"market_id": market()}

    def observed(number: int, *, detail: bool) -> Row:
        url = f"https://shop.example/item/{number}"
        return {
            "source_id": "bazaar",
            "identity_key": f"PID:{number}",
            "url": url,
            "canonical_url": url,
            "title": f"Thing {number}",
            "price_cents": number % 9000 + 101,
            "currency": "EUR",
            "availability": "IN_STOCK",
            "observed_at": NOW.isoformat(),
            "detail": detail,
            "detail_due_at": (NOW + timedelta(days=1)).isoformat(),
        }

    def store(connection: Connection, numbers: list[int], *, detail: bool = False) -> None:
        """As the writer does it, but for the commit."""
        rows = [observed(number, detail=detail) for number in dict.fromkeys(numbers)]
        batch = BatchWriter(WRITES, RUN, market(), lambda *_: nullcontext())
        unit = WriteUnit(rows)
        batch.store(connection, [unit])
        if unit.error or unit.refused:
            raise RuntimeError(f"not stored: {unit.error} {unit.refused[:1]}")

    def collect(connection: Connection) -> None:
        numbers = [*(some() for _ in range(60)), *(size + some() for _ in range(30))]
        rows = [observed(number, detail=False) for number in dict.fromkeys(numbers)]
        collected_cards.collect(connection, RUN, "/", 1, rows)

    def sync(connection: Connection) -> None:
        """After a run that saw nothing of it, all of the market is handed over."""
        incoming_rows.load(connection, [])
        market_sync.sync(connection, load_market(connection, "search"), NOW)

    def candidates(connection: Connection) -> list[VerificationCandidate]:
        name = market()
        verification_rows.expire(
            connection, RUN, name, used_up_before=NOW - falls_below(0, "standard"), now=NOW
        )
        return verification_rows.candidates(
            connection,
            name,
            unseen_before=NOW - timedelta(hours=24),
            doubted_before=NOW - timedelta(hours=20),
            latest=NOW + CLOCKS_APART,
            most=200,
        )

    def conclude(connection: Connection) -> None:
        """All of a market's candidates are alive after all."""
        found = candidates(connection)
        attempts = [
            {"run_id": RUN, "listing_id": each.id, "checked_at": NOW, "outcome": "alive"} for each in found
        ]
        rows = [
            {
                "listing_id": each.id,
                "last_seen_at": each.last_seen_at.isoformat(),
                "strikes": 0,
                "alive": True,
            }
            | {"struck": False, "gone": False, "sold": False, "sold_at": None}
            | {"verification_status": "verified"}
            for each in found
        ]
        verification_rows.record_attempts(connection, attempts)
        verification_rows.apply(connection, RUN, rows, NOW)

    def one(connection: Connection) -> None:
        """A listing's own page."""
        number = some()
        admin_listings.listing(connection, number, NOW)
        admin_listings.history(connection, number)
        admin_listings.attempts(connection, number)
        admin_listings.targets_of(connection, number)
        watch_rules.listed(connection, listing_id=number, most=20)

    def front(connection: Connection) -> None:
        """The overview."""
        dashboard.estimate(connection, "listings")
        dashboard.today(connection, NOW)
        dashboard.changes(connection)
        run_list.running(connection)
        run_list.runs(connection, most=8)
        run_list.per_day(connection, NOW)
        market_list.markets(connection)

    def add_targets(connection: Connection) -> None:
        urls = [f"https://shop.example/item/{number}0" for number in ids(50)]
        target_rows.add(connection, [NewTarget(url, url) for url in urls], NOW, "bench")

    def seen_one(connection: Connection) -> None:
        number = some()
        public_listings.listing(connection, number)
        public_listings.history(connection, number, most=101)

    def product(connection: Connection) -> None:
        number = chance.randrange(200, 600)
        admin_listings.product(connection, number)
        admin_listings.offers(connection, number, NOW)

    return {
        "people: listings, newest": page(),
        "people: listings, further down": page(lambda: {"before_id": some()}),
        "people: listings of a market": page(of_market),
        "people: listings of a source": page(lambda: {"source_id": "bazaar"}),
        "people: listings that are off": page(lambda: {"active": False}),
        "people: listings with a stale price": page(lambda: {"price_read_before": NOW - timedelta(days=2)}),
        "people: a rare word": page(rare_word),
        "people: a common word": page(lambda: {"words": "carbon"}),
        "people: two common words in a market": page(lambda: {"words": "carbon disc", **of_market()}),
        "people: common words, on sale": page(lambda: {"words": "carbon disc", "active": True}),
        "people: dear listings": page(lambda: dear),
        "people: dear listings of a market": page(lambda: {**dear, **of_market()}),
        "people: lines of 50 prices": lambda c: admin_listings.sparks(c, ids(50), NOW),
        "people: one listing": one,
        "people: products": lambda c: admin_listings.products(c, most=51),
        "people: products by a word": lambda c: admin_listings.products(
            c, words=f"product {some() // 10}", most=51
        ),
        "people: one product": product,
        "people: overview": front,
        "people: targets": lambda c: target_rows.page(c, Wanted(), most=100),
        "people: broken targets": lambda c: target_rows.page(c, Wanted(status="BROKEN"), most=100),
        "people: targets by part of a URL": lambda c: target_rows.page(
            c, Wanted(contains=f"item/{some()}9"), most=100
        ),
        "people: runs of a kind": runs(lambda: {"spider": "sweep"}),
        "people: failed runs of a kind": runs(lambda: {"spider": "sweep", "status": "failed"}),
        "people: runs of a market": runs(of_market),
        "programs: listings": seen(),
        "programs: listings of a market": seen(of_market),
        "programs: a common word": seen(lambda: {"words": "carbon"}),
        "programs: a rare word": seen(rare_word),
        "programs: dear listings": seen(lambda: dear),
        "programs: one listing with its history": seen_one,
        "programs: metrics": lambda c: gauges.read(c, NOW),
        "dispatcher: due markets": lambda c: dispatch_state.due_markets(c, NOW),
        "dispatcher: a cycle of targets": lambda c: target_queue.schedule(c, NOW, LIMITS),
        "dispatcher: what is wrong": lambda c: health_checks.evaluate(c, NOW),
        "dispatcher: watch rules": lambda c: watch_rules.evaluate(c, NOW),
        "discovery: known-check of a page of 90": collect,
        "discovery: sync of a search market": sync,
        "writer: 90 cards seen again": lambda c: store(c, ids(90)),
        "writer: 90 new cards": lambda c: store(c, [2 * size + number for number in ids(90)]),
        "writer: 50 product pages": lambda c: store(c, ids(50), detail=True),
        "sweep: choice of 100 details": lambda c: detail_queue.choose(c, market(), NOW, 100),
        "verification: candidates": candidates,
        "verification: looks concluded": conclude,
        "targets: 50 added": add_targets,
        "resolver: 100 listings": lambda c: product_links.resolve(c, NOW, 100),
        "resolver: how many wait": product_links.waiting,
    }
