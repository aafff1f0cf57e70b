"""What the conductor does to a cluster and its marketplace: one small function for each kind of fault.

Each says what it did, or None where there was nothing to do it to: that is no fault.
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
from pricewatch.simulation.store_audit import UP

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar, BazaarError, TruthListing
from pricewatch.simulation.habit_plan import BEYOND
from tests.chaos.cluster import Cluster
from tests.chaos.instants import Instants
from tests.chaos.traffic import MARKETS, order_any

ANSWERS: list[dict[str, Any]] = [
    {"action": "status", "status": 503},
    {"action": "rate_limit", "retry_after": 1},
    {"action": "hang", "seconds": 4},
    {"action": "reset"},
    {"action": "truncate"},
    {"action": "captcha"},
    {"action": "empty"},
]
BURST = 8
# Habits under which all that is promised can still be kept within minutes. The others take the crawler days:
# until a smaller market is believed, or until a page that leads elsewhere counts as gone.
GENTLE = (
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
class Scene:
    """Everything that a fault may touch, and the chance that decides."""

    cluster: Cluster
    bazaar: Bazaar
    chance: random.Random
    instants: Instants
    # As they were when somebody last asked. To ask for all of them holds the marketplace up for so long that
    # its log of requests would be late.
    listings: dict[str, TruthListing] = field(default_factory=dict)

    def look_around(self) -> None:
        for category in MARKETS.values():
            self.listings |= {each.url: each for each in self.bazaar.truth(category)}

    def listing(self, *, up: bool) -> TruthListing | None:
        """Any listing that was, or was not, there when it was last looked at."""
        found = [each for each in self.listings.values() if (each.state in UP) == up]
        return self.chance.choice(found) if found else None


def kill_a_spider(scene: Scene) -> str | None:
    spiders = [spider for node in scene.cluster.nodes for spider in node.spiders()]
    if not spiders:
        return None
    try:
        scene.chance.choice(spiders).send_signal(signal.SIGKILL)
    except psutil.Error:
        return None
    return "killed"


def kill_a_daemon(scene: Scene) -> str | None:
    node = scene.chance.choice(scene.cluster.nodes)
    if not node.is_up:
        return None
    node.kill()
    time.sleep(scene.chance.uniform(0, 2))
    node.start()
    return node.name


def restart_the_database(scene: Scene) -> str:
    scene.cluster.restart_database("fast", scene.chance.uniform(0, 1.5))
    return "fast"


def crash_the_database(scene: Scene) -> str:
    scene.cluster.restart_database("immediate", scene.chance.uniform(0, 1.5))
    return "immediate"


def cut_connections(scene: Scene) -> str | None:
    cut = scene.cluster.value(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = 'pricewatch' AND pid <> pg_backend_pid()"
    )
    return f"{cut} connections" if cut else None


def fill_the_queue(scene: Scene) -> str | None:
    taken = sum(order_any(scene.cluster, scene.chance) for _ in range(BURST))
    return f"{taken} jobs" if taken else None


def cancel_a_job(scene: Scene) -> str | None:
    rows = scene.cluster.rows("SELECT job_id FROM jobs WHERE ended_at IS NULL ORDER BY id")
    if not rows:
        return None
    answer = scene.cluster.order(scene.chance, "cancel.json", job=scene.chance.choice(rows)[0])
    return None if answer is None else str(answer["prevstate"])


def spoil_answers(scene: Scene) -> str:
    fault = scene.chance.choice(ANSWERS)
    scene.bazaar.fault(path=r"^/(c|item)/", times=scene.chance.randint(2, 8), **fault)
    return str(fault["action"])


def change_a_price(scene: Scene) -> str | None:
    return _change(scene, up=True, price=scene.chance.uniform(0.8, 1.2))


def take_one_down(scene: Scene) -> str | None:
    return _change(scene, up=True, end=scene.chance.choice(("sold", "404", "410", "soft")))


def change_stock(scene: Scene) -> str | None:
    return _change(scene, up=True, stock=scene.chance.choice(("in", "out", "hidden")))


def bring_one_back(scene: Scene) -> str | None:
    return _change(scene, up=False, **{"return": True, "new_id": scene.chance.random() < 0.5})


def change_a_habit(scene: Scene) -> str:
    return scene.bazaar.habit(scene.chance.choice(GENTLE)).habit


def move_the_clock(scene: Scene) -> str:
    by = timedelta(minutes=scene.chance.randint(5, 120))
    at = clock.now()
    scene.bazaar.advance(seconds=by.total_seconds())
    scene.instants.move(at, by)
    return str(by)


def _change(scene: Scene, *, up: bool, **changes: Any) -> str | None:
    listing = scene.listing(up=up)
    if listing is None:
        return None
    if "price" in changes:
        changes["price"] = max(1, round(listing.price * changes["price"]))
    try:
        scene.listings[listing.url] = scene.bazaar.change(listing.id, **changes)
    except BazaarError:
        return None
    return listing.url


Inject = Callable[[Scene], str | None]
# Each kind with how many of a hundred it is.
KINDS: dict[str, tuple[Inject, int]] = {
    "spider killed (-9)": (kill_a_spider, 18),
    "daemon killed (-9)": (kill_a_daemon, 5),
    "database restarted": (restart_the_database, 3),
    "database crashed": (crash_the_database, 4),
    "connections cut": (cut_connections, 10),
    "queue filled": (fill_the_queue, 3),
    "job cancelled": (cancel_a_job, 5),
    "answers spoilt": (spoil_answers, 20),
    "price changed": (change_a_price, 14),
    "sold or removed": (take_one_down, 7),
    "stock changed": (change_stock, 4),
    "came back": (bring_one_back, 5),
    "clock moved": (move_the_clock, 4),
    "habit of the shop changed": (change_a_habit, 6),
}
