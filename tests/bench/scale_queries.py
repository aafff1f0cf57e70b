"""The queries of the store: of the web interface, the API, the dispatcher, and each spider."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from pricewatch.money import Money
from pricewatch.queued_work import VerificationCandidate
from pricewatch.rules.freshness import CLOCKS_APART, time_until_below
from pricewatch.rules.market_membership import PriceRange
from pricewatch.services import health_checks
from pricewatch.store.people import rule_evaluation, watch_rules
from pricewatch.store.queues import dispatch_state, target_queue, target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.source_registry.market_rows import load_market
from pricewatch.store.views import (
    admin_listings,
    dashboard,
    gauges,
    market_list,
    product_list,
    public_listings,
    run_list,
)
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.writing import (
    collected_cards,
    detail_queue,
    history_append,
    incoming_rows,
    jump_quarantine,
    listing_upsert,
    market_sync,
    product_links,
    verification_rows,
)
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from tests.bench.fill_listings import MARKETS, NOW
from tests.bench.targets import LIMITS

Query = Callable[[Connection], Any]
RUN = 1
WRITES: list[Write] = [
    jump_quarantine.quarantine_jumps,
    listing_upsert.upsert,
    history_append.append,
    product_links.request_changed,
]
# The queried listings are spread over the whole table, but few, so that they are cached at any size: reads of
# the disk are not part of the measurement.
CACHED_LISTINGS = 400
# No listing has such a price, so that the query reads everything that it may read.
HIGH_PRICE = 8_999_900


def queries(size: int) -> dict[str, Query]:
    """Return the queries by name; each call chooses its parameters at random."""
    rng = random.Random(size)
    high_price = {"prices": PriceRange(Money(HIGH_PRICE, "EUR"))}

    cached = [rng.randrange(2_000, size) + 1 for _ in range(CACHED_LISTINGS)]

    def some() -> int:
        return rng.choice(cached)

    def market() -> str:
        return f"m{rng.randrange(MARKETS)}"

    def ids(count: int) -> list[int]:
        return sorted({some() for _ in range(count)})

    def page(filters: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: admin_listings.listings_page(c, ListingFilter(**filters()), now=NOW, most=50)

    def public(filters: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: public_listings.listings(c, ListingFilter(**filters()), 50)

    def runs(filters: Callable[[], dict[str, Any]] = dict) -> Query:
        return lambda c: run_list.runs(c, most=50, **filters())

    def rare_word() -> dict[str, Any]:
        return {"title_query": f"carbon no{rng.randrange(size)}"}

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
        """Store as the writer does, without the commit."""
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
        """Sync after a run that saw nothing, which queues the whole market for verification."""
        incoming_rows.load(connection, [])
        market_sync.sync(connection, load_market(connection, "search"), NOW)

    def candidates(connection: Connection) -> list[VerificationCandidate]:
        name = market()
        verification_rows.expire_unseen(
            connection, RUN, name, expired_before=NOW - time_until_below(0, "standard"), now=NOW
        )
        return verification_rows.candidates(
            connection,
            name,
            unseen_before=NOW - timedelta(hours=24),
            unverified_before=NOW - timedelta(hours=20),
            latest=NOW + CLOCKS_APART,
            most=200,
        )

    def conclude(connection: Connection) -> None:
        """Store that all candidates of a market are alive."""
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
        verification_rows.apply_results(connection, RUN, rows, NOW)

    def listing_page(connection: Connection) -> None:
        number = some()
        admin_listings.listing(connection, number, NOW)
        admin_listings.history(connection, number)
        admin_listings.attempts(connection, number)
        admin_listings.find_targets(connection, number)
        watch_rules.find_rules(connection, listing_id=number, most=20)

    def home_page(connection: Connection) -> None:
        dashboard.estimate_rows(connection, "listings")
        dashboard.last_24_hours(connection, NOW)
        dashboard.recent_changes(connection)
        run_list.running(connection)
        run_list.runs(connection, most=8)
        run_list.per_day(connection, NOW)
        market_list.markets(connection)

    def add_targets(connection: Connection) -> None:
        urls = [f"https://shop.example/item/{number}0" for number in ids(50)]
        target_rows.add(connection, [NewTarget(url, url) for url in urls], NOW, "bench")

    def public_listing(connection: Connection) -> None:
        number = some()
        public_listings.listing(connection, number)
        public_listings.history(connection, number, most=101)

    def product(connection: Connection) -> None:
        number = rng.randrange(200, 600)
        product_list.product(connection, number)
        product_list.offers(connection, number, NOW)

    return {
        "web: newest listings": page(),
        "web: older listings": page(lambda: {"before_id": some()}),
        "web: listings of a market": page(of_market),
        "web: listings of a source": page(lambda: {"source_id": "bazaar"}),
        "web: inactive listings": page(lambda: {"active": False}),
        "web: listings with a stale price": page(lambda: {"price_read_before": NOW - timedelta(days=2)}),
        "web: search for a rare word": page(rare_word),
        "web: search for a common word": page(lambda: {"title_query": "carbon"}),
        "web: search for two words in a market": page(lambda: {"title_query": "carbon disc", **of_market()}),
        "web: search in active listings": page(lambda: {"title_query": "carbon disc", "active": True}),
        "web: listings by price": page(lambda: high_price),
        "web: listings of a market by price": page(lambda: {**high_price, **of_market()}),
        "web: 50 sparklines": lambda c: admin_listings.sparkline_points(c, ids(50), NOW),
        "web: one listing": listing_page,
        "web: products": lambda c: product_list.products(c, most=51),
        "web: search for products": lambda c: product_list.products(
            c, title_query=f"product {some() // 10}", most=51
        ),
        "web: one product": product,
        "web: home page": home_page,
        "web: targets": lambda c: target_rows.page(c, TargetFilter(), most=100),
        "web: broken targets": lambda c: target_rows.page(c, TargetFilter(status="BROKEN"), most=100),
        "web: targets by part of a URL": lambda c: target_rows.page(
            c, TargetFilter(contains=f"item/{some()}9"), most=100
        ),
        "web: runs of a spider": runs(lambda: {"spider": "sweep"}),
        "web: failed runs of a spider": runs(lambda: {"spider": "sweep", "status": "failed"}),
        "web: runs of a market": runs(of_market),
        "API: listings": public(),
        "API: listings of a market": public(of_market),
        "API: search for a common word": public(lambda: {"title_query": "carbon"}),
        "API: search for a rare word": public(rare_word),
        "API: listings by price": public(lambda: high_price),
        "API: one listing with its history": public_listing,
        "API: metrics": lambda c: gauges.read(c, NOW),
        "dispatcher: due markets": lambda c: dispatch_state.due_markets(c, NOW),
        "dispatcher: scheduling cycle of targets": lambda c: target_queue.schedule(c, NOW, LIMITS),
        "dispatcher: health checks": lambda c: health_checks.evaluate(c, NOW),
        "dispatcher: watch rules": lambda c: rule_evaluation.evaluate(c, NOW),
        "discovery: collect a page of 90 cards": collect,
        "discovery: sync a search market": sync,
        "writer: 90 known cards": lambda c: store(c, ids(90)),
        "writer: 90 new cards": lambda c: store(c, [2 * size + number for number in ids(90)]),
        "writer: 50 product pages": lambda c: store(c, ids(50), detail=True),
        "sweep: choose 100 details": lambda c: detail_queue.next_pages(c, market(), NOW, 100),
        "verification: candidates": candidates,
        "verification: store outcomes": conclude,
        "targets: add 50": add_targets,
        "resolver: 100 listings": lambda c: product_links.resolve(c, NOW, 100),
        "resolver: count queued listings": product_links.count_pending,
    }
