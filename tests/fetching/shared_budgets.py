"""Eight processes share the rate limits of two domains, and one is killed; for a test and a benchmark."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pricewatch.bazaar.client import LogEntry
from tests.fetching.conftest import Site

PROCESSES = 8
BUDGETS = {"bazaar-test.com": 20, "other-test.com": 10}
SECONDS = 10.0


@dataclass
class SharedBudgets:
    """The requests that the marketplace got, and the period in which all processes ran."""

    log: list[LogEntry]
    began: float
    ended: float

    def times(self, domain: str) -> list[float]:
        return [entry.time for entry in self.log if entry.host.partition(":")[0].endswith(domain)]

    def used(self, domain: str) -> float:
        """Return the share of its budget that was used."""
        sent = sum(self.began <= moment < self.ended for moment in self.times(domain))
        return sent / (BUDGETS[domain] * (self.ended - self.began))


def share_budgets(site: Site, directory: Path, **settings: Any) -> SharedBudgets:
    """Crawl two subdomains that share a budget, and a second domain with its own."""
    for domain, budget in BUDGETS.items():
        site.source(domain, requests_per_second=budget, max_concurrent=8)
    pages = [
        site.url(f"/c/bikes?page={n}", host)
        for n in range(1, 4)
        for host in ("www.bazaar-test.com", "cdn.bazaar-test.com")
    ]
    other = [site.url(f"/help?{n}", "www.other-test.com") for n in range(3)]
    site.bazaar.clear_log()
    crawls, pids = site.parallel_crawls(
        PROCESSES, *pages, *other, until=SECONDS, directory=directory, **settings
    )
    with crawls:
        assert crawls.stdin is not None
        crawls.stdin.write("start\n")
        crawls.stdin.flush()
        # By then all processes have read robots.txt.
        began = time.time() + 1.5
        time.sleep(SECONDS / 3)
        # Its reservations are lost, a request or two; the other processes do not wait for them.
        os.kill(pids[0], signal.SIGKILL)
        output, _ = crawls.communicate(timeout=60)
    assert len(json.loads(output)) == PROCESSES - 1
    return SharedBudgets(site.bazaar.log(), began, began + SECONDS - 1.5)
