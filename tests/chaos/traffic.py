"""Keep the cluster busy: schedule all four spiders again and again, on any daemon."""

from __future__ import annotations

import random
import threading

from tests.chaos.cluster import Cluster

MARKETS = {"bazaar-bikes": "bikes", "bazaar-toys": "toys"}
MAX_PENDING = 6
# The spiders with their weights and their arguments in addition to the market.
SPIDERS = {
    "discovery": (3, {}),
    "sweep": (4, {"max_details": "10"}),
    "verification": (2, {"max_listings": "15"}),
    "targets": (2, {}),
}


class Traffic:
    """Schedule jobs in a thread until it is stopped."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._rng = random.Random(f"{seed}/traffic")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(0.3):
            pending = self._cluster.value("SELECT count(*) FROM jobs WHERE state = 'pending'")
            if pending < MAX_PENDING:
                schedule_any(self._cluster, self._rng)


def schedule_any(cluster: Cluster, rng: random.Random) -> bool:
    """Schedule any spider for any market; return whether a daemon accepted the job."""
    weights = [weight for weight, _ in SPIDERS.values()]
    (spider,) = rng.choices(list(SPIDERS), weights)
    return schedule(cluster, rng, spider, rng.choice(list(MARKETS)), **SPIDERS[spider][1])


def schedule(cluster: Cluster, rng: random.Random, spider: str, market: str, **arguments: str) -> bool:
    """Schedule a job; return whether a daemon accepted it."""
    fields = arguments if spider == "targets" else {"market": market, **arguments}
    return cluster.post(rng, "schedule.json", spider=spider, **fields) is not None
