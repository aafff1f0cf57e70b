"""Keeps the cluster busy: all four spiders, again and again, ordered from any daemon."""

from __future__ import annotations

import random
import threading

from tests.chaos.cluster import Cluster

MARKETS = {"bazaar-bikes": "bikes", "bazaar-toys": "toys"}
MOST_WAITING = 6
# What is started how often, and with which arguments beside the market.
SPIDERS = {
    "discovery": (3, {}),
    "sweep": (4, {"max_details": "10"}),
    "verification": (2, {"max_listings": "15"}),
    "targets": (2, {}),
}


class Traffic:
    """Orders jobs on a thread of its own until it is stopped."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._chance = random.Random(f"{seed}/traffic")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.ordered = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(0.3):
            waiting = self._cluster.value("SELECT count(*) FROM jobs WHERE state = 'pending'")
            if waiting < MOST_WAITING and order_any(self._cluster, self._chance):
                self.ordered += 1


def order_any(cluster: Cluster, chance: random.Random) -> bool:
    """Order any spider for any market; whether a daemon took the order."""
    weights = [weight for weight, _ in SPIDERS.values()]
    (spider,) = chance.choices(list(SPIDERS), weights)
    return order(cluster, chance, spider, chance.choice(list(MARKETS)), **SPIDERS[spider][1])


def order(cluster: Cluster, chance: random.Random, spider: str, market: str, **arguments: str) -> bool:
    given = arguments if spider == "targets" else {"market": market, **arguments}
    return cluster.order(chance, "schedule.json", spider=spider, **given) is not None
