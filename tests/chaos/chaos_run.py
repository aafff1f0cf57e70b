"""One chaos run: start a cluster, inject faults, let it recover, and check every guarantee."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, text

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.parsing.url import canonical_url
from pricewatch.simulation.stored_state import audited_listings
from pricewatch.simulation.time_spans import Span
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from tests.chaos import checks
from tests.chaos.checks import GuaranteeCheck
from tests.chaos.clock_moves import ClockMoves
from tests.chaos.cluster import Cluster, DeadlineExceeded
from tests.chaos.fault_injection import FAULTS, FaultContext
from tests.chaos.invariants import InvariantMonitor
from tests.chaos.traffic import MARKETS, Traffic, schedule

PAGE_SIZE = 10
REQUESTS_PER_SECOND = 12
TARGETS = 12
FINAL_SECONDS = 300
MAX_SWEEPS = 12
VERIFICATIONS = 2
Progress = Callable[[str, float], None]


@dataclass(slots=True)
class ChaosReport:
    faults: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    failed_responses: int = 0
    habits: list[str] = field(default_factory=list)
    checks: list[GuaranteeCheck] = field(default_factory=list)

    @property
    def broken(self) -> int:
        return sum(len(check.broken) for check in self.checks)


class ChaosRun:
    def __init__(self, cluster: Cluster, bazaar: Bazaar, seed: int, progress: Progress) -> None:
        self.cluster = cluster
        self.bazaar = bazaar
        self.seed = seed
        self.progress = progress
        self.rng = random.Random(f"{seed}/faults")
        self.context = FaultContext(cluster, bazaar, self.rng, ClockMoves())
        self.monitor = InvariantMonitor(cluster)
        self.report = ChaosReport()

    def run(self, faults: int, seconds: float) -> ChaosReport:
        traffic = Traffic(self.cluster, self.seed)
        self.progress("starting the cluster", 0.0)
        self.bazaar.set_clock(clock.now())
        self.context.load_listings()
        self.cluster.call(self._prepare)
        try:
            self.cluster.start()
            self.cluster.wait_until_joined()
            traffic.start()
            self._inject_faults(faults, seconds)
        finally:
            traffic.stop()
        try:
            self._recover()
            final_cycle, verified_at = self._final_runs()
        except DeadlineExceeded as error:
            final_cycle, verified_at = (clock.now(), clock.now()), []
            self.report.checks.append(GuaranteeCheck("the cluster recovers in time", 1, [str(error)]))
        self._check(final_cycle, verified_at)
        return self.report

    def _prepare(self, connection: Connection) -> None:
        connection.execute(
            text(
                "UPDATE sources SET base_url = :url, requests_per_second = :budget, max_concurrent = 4"
                " WHERE id = 'bazaar'"
            ),
            {"url": self.bazaar.url, "budget": REQUESTS_PER_SECOND},
        )
        connection.execute(
            text("UPDATE markets SET page_size = :size, enabled = id = ANY(:ids)"),
            {"size": PAGE_SIZE, "ids": list(MARKETS)},
        )
        pages = [
            each for each in self.context.listings.values() if each.state == "on_sale" and each.markup != "js"
        ]
        urls = [f"{self.bazaar.url}{each.url}" for each in self.rng.sample(pages, TARGETS)]
        new = [NewTarget(url, canonical_url(url), schedule="* * * * *") for url in urls]
        target_rows.add(connection, new, clock.now(), "chaos")

    def _inject_faults(self, faults: int, seconds: float) -> None:
        began = time.monotonic()
        done = 0
        while done < faults and time.monotonic() < began + 2 * seconds:
            due = began + seconds * (done + self.rng.random()) / faults
            time.sleep(max(0.0, due - time.monotonic()))
            self.cluster.supervise()
            kind = self._next_kind(faults - done)
            self.progress(kind, 0.7 * done / faults)
            if FAULTS[kind][0](self.context) is not None:
                self.report.faults[kind] += 1
                done += 1
                self.monitor.check()

    def _next_kind(self, left: int) -> str:
        """Choose a fault by weight; near the end, one that was not injected yet."""
        missing = [kind for kind in FAULTS if kind not in self.report.faults]
        if missing and left <= 2 * len(missing):
            return self.rng.choice(missing)
        return self.rng.choices(list(FAULTS), [weight for _, weight in FAULTS.values()])[0]

    def _recover(self) -> None:
        """Stop all faults, start all nodes, enable what was disabled, and cancel the pending jobs."""
        self.progress("recovering", 0.7)
        self.report.failed_responses = sum(rule["hits"] for rule in self.bazaar.faults())
        self.bazaar.clear_faults()
        self.cluster.restart_database("fast")
        self.cluster.wait_until_joined()
        self.cluster.call(_enable_everything)
        for (job_id,) in self.cluster.rows("SELECT job_id FROM jobs WHERE state = 'pending'"):
            self.cluster.post(self.rng, "cancel.json", job=job_id)
        self.cluster.until("all jobs end", lambda: self.cluster.jobs_left() == 0, FINAL_SECONDS)

    def _final_runs(self) -> tuple[Span, list[datetime]]:
        """Run every spider; return the span of the last complete sweep and the times of verification."""
        self.progress("last runs", 0.8)
        self._run_spider("discovery")
        before = {market: self._swept_at(market) for market in MARKETS}
        # Finish the current cycle, then run a whole one.
        began = None
        for _ in range(MAX_SWEEPS):
            self._run_spider("sweep")
            at = {market: self._swept_at(market) for market in MARKETS}
            if began is None and all(at[market] != before[market] for market in MARKETS):
                began, before = clock.now(), at
            elif began is not None and all(at[market] != before[market] for market in MARKETS):
                break
        else:
            raise DeadlineExceeded(f"no complete sweep in {MAX_SWEEPS} runs")
        final_cycle = (began, clock.now())
        verified_at = []
        self.progress("last runs: verification", 0.9)
        for _ in range(VERIFICATIONS):
            verified_at.append(clock.now())
            self._run_spider("verification")
        self._run_spider("targets")
        return final_cycle, verified_at

    def _run_spider(self, spider: str) -> None:
        """Run a spider once for each market, and wait for the end."""
        for market in ["-"] if spider == "targets" else MARKETS:
            scheduled = partial(schedule, self.cluster, self.rng, spider, market)
            self.cluster.until(f"{spider} is scheduled", scheduled)
        self.cluster.until(f"{spider} ends", lambda: self.cluster.jobs_left() == 0, FINAL_SECONDS)
        self.monitor.check()

    def _swept_at(self, market: str) -> datetime | None:
        at: datetime | None = self.cluster.value(
            "SELECT sweep_last_complete_at FROM markets WHERE id = :id", id=market
        )
        return at

    def _check(self, final_cycle: Span, verified_at: list[datetime]) -> None:
        self.progress("comparing with the truth", 0.97)
        report = self.report
        time.sleep(1)
        report.checks += checks.check_final_state(self.cluster)
        report.runs = Counter(
            dict(self.cluster.rows("SELECT spider || ' ' || status, count(*) FROM runs GROUP BY 1"))
        )
        report.jobs = self.cluster.value("SELECT count(*) FROM jobs")
        report.habits = [each.habit for each in self.bazaar.habits()]
        truth = [
            self.context.clock_moves.by_real_clock(each)
            for category in MARKETS.values()
            for each in self.bazaar.truth(category)
        ]
        stored = self.cluster.call(lambda connection: audited_listings(connection, "bazaar"))
        report.checks += checks.compare_with_truth(truth, stored, final_cycle, verified_at)
        report.checks += checks.check_invariants(self.monitor)
        report.checks.append(checks.check_rate_limit(self.bazaar.log(), REQUESTS_PER_SECOND))
        self.cluster.stop()
        left = self.cluster.processes_left()
        report.checks.append(GuaranteeCheck("no process is left behind", len(self.cluster.nodes), left))


def _enable_everything(connection: Connection) -> None:
    """Enable adapters that the faults disabled and close the circuits of markets, as an operator would."""
    connection.execute(text("UPDATE adapter_status SET enabled = true"))
    connection.execute(
        text("UPDATE markets SET discovery_failures = 0, sweep_failures = 0, verification_failures = 0")
    )
