"""The faults of a chaos run: one function for each kind.

Each returns a description, or None if there was nothing to inject the fault into.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psutil  # type: ignore[import-untyped]

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar, BazaarError, TruthListing
from pricewatch.simulation.habit_plan import BEYOND
from pricewatch.simulation.listing_audit import LISTED_STATES
from tests.chaos.clock_moves import ClockMoves
from tests.chaos.cluster import Cluster
from tests.chaos.traffic import MARKETS, schedule_any

RESPONSE_FAULTS: list[dict[str, Any]] = [
    {"action": "status", "status": 503},
    {"action": "rate_limit", "retry_after": 1},
    {"action": "hang", "seconds": 4},
    {"action": "reset"},
    {"action": "truncate"},
    {"action": "captcha"},
    {"action": "empty"},
]
BURST = 8
# Habits to which the crawler adapts within minutes. The others take days: until a smaller market is accepted,
# or until a page that redirects counts as gone.
FAST_HABITS = (
    *BEYOND,
    "deleted_404",
    "deleted_410",
    "deleted_soft",
    "deleted_unlisted",
    "slug_renamed",
    "oldest_first",
    "resorted",
    "two_categories",
    "cards_without_stock",
    "cards_net_and_gross",
    "tax_switch",
    "backorder",
    "preorder",
    "prices_in_yen",
    "prices_in_dinar",
    "ab_layout",
)


@dataclass(slots=True)
class FaultContext:
    """Everything that a fault may change, and the random generator that chooses."""

    cluster: Cluster
    bazaar: Bazaar
    rng: random.Random
    clock_moves: ClockMoves
    # Cached: a request for all listings blocks the marketplace so long that its request log would be late.
    listings: dict[str, TruthListing] = field(default_factory=dict)

    def load_listings(self) -> None:
        for category in MARKETS.values():
            self.listings |= {each.url: each for each in self.bazaar.truth(category)}

    def random_listing(self, *, online: bool) -> TruthListing | None:
        """Return a listing that is online, or one that is not, by the cache."""
        found = [each for each in self.listings.values() if (each.state in LISTED_STATES) == online]
        return self.rng.choice(found) if found else None


def kill_spider(context: FaultContext) -> str | None:
    spiders = [spider for node in context.cluster.nodes for spider in node.spiders()]
    if not spiders:
        return None
    try:
        context.rng.choice(spiders).send_signal(signal.SIGKILL)
    except psutil.Error:
        return None
    return "killed"


def kill_daemon(context: FaultContext) -> str | None:
    node = context.rng.choice(context.cluster.nodes)
    if not node.is_up:
        return None
    node.kill()
    time.sleep(context.rng.uniform(0, 2))
    node.start()
    return node.name


def restart_database(context: FaultContext) -> str:
    context.cluster.restart_database("fast", context.rng.uniform(0, 1.5))
    return "fast"


def crash_database(context: FaultContext) -> str:
    context.cluster.restart_database("immediate", context.rng.uniform(0, 1.5))
    return "immediate"


def terminate_connections(context: FaultContext) -> str | None:
    count = context.cluster.value(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = 'pricewatch' AND pid <> pg_backend_pid()"
    )
    return f"{count} connections" if count else None


def fill_queue(context: FaultContext) -> str | None:
    accepted = sum(schedule_any(context.cluster, context.rng) for _ in range(BURST))
    return f"{accepted} jobs" if accepted else None


def cancel_job(context: FaultContext) -> str | None:
    rows = context.cluster.rows("SELECT job_id FROM jobs WHERE ended_at IS NULL ORDER BY id")
    if not rows:
        return None
    response = context.cluster.post(context.rng, "cancel.json", job=context.rng.choice(rows)[0])
    return None if response is None else str(response["prevstate"])


def fail_responses(context: FaultContext) -> str:
    fault = context.rng.choice(RESPONSE_FAULTS)
    context.bazaar.fault(path=r"^/(c|item)/", times=context.rng.randint(2, 8), **fault)
    return str(fault["action"])


def change_price(context: FaultContext) -> str | None:
    return _change(context, online=True, price=context.rng.uniform(0.8, 1.2))


def remove_listing(context: FaultContext) -> str | None:
    return _change(context, online=True, end=context.rng.choice(("sold", "404", "410", "soft")))


def change_stock(context: FaultContext) -> str | None:
    return _change(context, online=True, stock=context.rng.choice(("in", "out", "hidden")))


def relist(context: FaultContext) -> str | None:
    return _change(context, online=False, **{"return": True, "new_id": context.rng.random() < 0.5})


def add_habit(context: FaultContext) -> str:
    return context.bazaar.habit(context.rng.choice(FAST_HABITS)).habit


def move_clock(context: FaultContext) -> str:
    by = timedelta(minutes=context.rng.randint(5, 120))
    at = clock.now()
    context.bazaar.advance(seconds=by.total_seconds())
    context.clock_moves.add(at, by)
    return str(by)


def _change(context: FaultContext, *, online: bool, **changes: Any) -> str | None:
    listing = context.random_listing(online=online)
    if listing is None:
        return None
    if "price" in changes:
        changes["price"] = max(1, round(listing.price * changes["price"]))
    try:
        context.listings[listing.url] = context.bazaar.change(listing.id, **changes)
    except BazaarError:
        return None
    return listing.url


Inject = Callable[[FaultContext], str | None]
# The kinds of faults with their weights.
FAULTS: dict[str, tuple[Inject, int]] = {
    "spider killed (-9)": (kill_spider, 18),
    "daemon killed (-9)": (kill_daemon, 5),
    "database restarted": (restart_database, 3),
    "database crashed": (crash_database, 4),
    "connections terminated": (terminate_connections, 10),
    "queue filled": (fill_queue, 3),
    "job cancelled": (cancel_job, 5),
    "responses failed": (fail_responses, 20),
    "price changed": (change_price, 14),
    "listing sold or removed": (remove_listing, 7),
    "stock changed": (change_stock, 4),
    "listing relisted": (relist, 5),
    "clock moved": (move_clock, 4),
    "habit of the shop added": (add_habit, 6),
}
