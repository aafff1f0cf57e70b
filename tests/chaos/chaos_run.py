"""Leads through a chaos: a cluster at work, faults by seed, then calm, then the reckoning."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from pricewatch.simulation.store_audit import Span
from sqlalchemy import Connection, text

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.parsing.url import canonical_url
from pricewatch.simulation.stored_state import stored_listings
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from tests.chaos import checks
from tests.chaos.checks import Check
from tests.chaos.cluster import Cluster, NotInTime
from tests.chaos.faults import KINDS, Scene
from tests.chaos.instants import Instants
from tests.chaos.traffic import MARKETS, Traffic, order
from tests.chaos.watcher import Watcher

PAGE_SIZE = 10
BUDGET = 12
WATCHED_PAGES = 12
FINAL_SECONDS = 300
MOST_SWEEPS = 12
VERIFICATIONS = 2
Tell = Callable[[str, float], None]


@dataclass(slots=True)
class Report:
    faults: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    answers_spoilt: int = 0
    habits: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def broken(self) -> int:
        return sum(len(check.broken) for check in self.checks)


class Conductor:
    def __init__(self, cluster: Cluster, bazaar: Bazaar, seed: int, tell: Tell) -> None:
        self.cluster = cluster
        self.bazaar = bazaar
        self.seed = seed
        self.tell = tell
        self.chance = random.Random(f"{seed}/conductor")
        self.scene = Scene(cluster, bazaar, self.chance, Instants())
        self.watcher = Watcher(cluster)
        self.report = Report()

    def run(self, faults: int, seconds: float) -> Report:
        traffic = Traffic(self.cluster, self.seed)
        self.tell("starting the cluster", 0.0)
        self.bazaar.set_clock(clock.now())
        self.scene.look_around()
        self.cluster.call(self._prepare)
        try:
            self.cluster.start()
            self.cluster.revive()
            traffic.start()
            self._disturb(faults, seconds)
        finally:
            traffic.stop()
        try:
            self._calm()
            final, looks = self._final_runs()
        except NotInTime as error:
            final, looks = (clock.now(), clock.now()), []
            self.report.checks.append(Check("the cluster comes to rest", 1, [str(error)]))
        self._reckon(final, looks)
        return self.report

    def _prepare(self, connection: Connection) -> None:
        connection.execute(
            text(
                "UPDATE sources SET base_url = :url, requests_per_second = :budget, max_concurrent = 4"
                " WHERE id = 'bazaar'"
            ),
            {"url": self.bazaar.url, "budget": BUDGET},
        )
        connection.execute(
            text("UPDATE markets SET page_size = :size, enabled = id = ANY(:ids)"),
            {"size": PAGE_SIZE, "ids": list(MARKETS)},
        )
        pages = [
            each for each in self.scene.listings.values() if each.state == "on_sale" and each.markup != "js"
        ]
        urls = [f"{self.bazaar.url}{each.url}" for each in self.chance.sample(pages, WATCHED_PAGES)]
        new = [NewTarget(url, canonical_url(url), schedule="* * * * *") for url in urls]
        target_rows.add(connection, new, clock.now(), "chaos")

    def _disturb(self, faults: int, seconds: float) -> None:
        began = time.monotonic()
        done = 0
        while done < faults and time.monotonic() < began + 2 * seconds:
            due = began + seconds * (done + self.chance.random()) / faults
            time.sleep(max(0.0, due - time.monotonic()))
            self.cluster.supervise()
            kind = self._next_kind(faults - done)
            self.tell(kind, 0.7 * done / faults)
            if KINDS[kind][0](self.scene) is not None:
                self.report.faults[kind] += 1
                done += 1
                self.watcher.look()

    def _next_kind(self, left: int) -> str:
        """By weight; but towards the end, what did not come yet."""
        missing = [kind for kind in KINDS if kind not in self.report.faults]
        if missing and left <= 2 * len(missing):
            return self.chance.choice(missing)
        return self.chance.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]

    def _calm(self) -> None:
        """No more faults: all nodes are up, what nobody needs any more is cancelled, a person has a look."""
        self.tell("calming down", 0.7)
        self.report.answers_spoilt = sum(rule["hits"] for rule in self.bazaar.faults())
        self.bazaar.clear_faults()
        self.cluster.restart_database("fast")
        self.cluster.revive()
        self.cluster.call(_as_a_person_would)
        for (job_id,) in self.cluster.rows("SELECT job_id FROM jobs WHERE state = 'pending'"):
            self.cluster.order(self.chance, "cancel.json", job=job_id)
        self.cluster.until("all jobs end", lambda: self.cluster.jobs_left() == 0, FINAL_SECONDS)

    def _final_runs(self) -> tuple[Span, list[datetime]]:
        self.tell("last runs", 0.8)
        self._let_through("discovery")
        before = {market: self._swept_at(market) for market in MARKETS}
        # What is left of the cycle under way, then a whole one.
        began = None
        for _ in range(MOST_SWEEPS):
            self._let_through("sweep")
            at = {market: self._swept_at(market) for market in MARKETS}
            if began is None and all(at[market] != before[market] for market in MARKETS):
                began, before = clock.now(), at
            elif began is not None and all(at[market] != before[market] for market in MARKETS):
                break
        else:
            raise NotInTime(f"a whole sweep was not done in {MOST_SWEEPS} runs")
        final = (began, clock.now())
        looks = []
        self.tell("last runs: verification", 0.9)
        for _ in range(VERIFICATIONS):
            looks.append(clock.now())
            self._let_through("verification")
        self._let_through("targets")
        return final, looks

    def _let_through(self, spider: str) -> None:
        """Once for each market, and to its end."""
        for market in ["-"] if spider == "targets" else MARKETS:
            ordering = partial(order, self.cluster, self.chance, spider, market)
            self.cluster.until(f"{spider} is ordered", ordering)
        self.cluster.until(f"{spider} ends", lambda: self.cluster.jobs_left() == 0, FINAL_SECONDS)
        self.watcher.look()

    def _swept_at(self, market: str) -> datetime | None:
        at: datetime | None = self.cluster.value(
            "SELECT sweep_last_complete_at FROM markets WHERE id = :id", id=market
        )
        return at

    def _reckon(self, final: Span, looks: list[datetime]) -> None:
        self.tell("comparing with the truth", 0.97)
        found = self.report
        time.sleep(1)
        found.checks += checks.at_rest(self.cluster)
        found.runs = Counter(
            dict(self.cluster.rows("SELECT spider || ' ' || status, count(*) FROM runs GROUP BY 1"))
        )
        found.jobs = self.cluster.value("SELECT count(*) FROM jobs")
        found.habits = [each.habit for each in self.bazaar.habits()]
        truth = [
            self.scene.instants.dated(each)
            for category in MARKETS.values()
            for each in self.bazaar.truth(category)
        ]
        stored = self.cluster.call(lambda connection: stored_listings(connection, "bazaar"))
        found.checks += checks.compare(truth, stored, final, looks)
        found.checks += checks.at_all_times(self.watcher)
        found.checks.append(checks.budget(self.bazaar.log(), BUDGET))
        self.cluster.stop()
        left = self.cluster.processes_left()
        found.checks.append(Check("no process is left behind", len(self.cluster.nodes), left))


def _as_a_person_would(connection: Connection) -> None:
    """An adapter that was disabled because its site failed is enabled by a person, with the breakers."""
    connection.execute(text("UPDATE adapter_status SET enabled = true"))
    connection.execute(
        text("UPDATE markets SET discovery_failures = 0, sweep_failures = 0, verification_failures = 0")
    )
