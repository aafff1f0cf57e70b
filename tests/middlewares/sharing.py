"""Eight processes that share the budgets of two domains, one of which dies: for test and benchmark."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pricewatch.bazaar.client import LogEntry
from tests.middlewares.conftest import Site

PROCESSES = 8
BUDGETS = {"bazaar-test.com": 20, "other-test.com": 10}
SECONDS = 10.0


@dataclass
class Shared:
    """What the marketplace saw, and from when until when all of them were at work."""

    log: list[LogEntry]
    began: float
    ended: float

    def times(self, domain: str) -> list[float]:
        return [entry.time for entry in self.log if entry.host.partition(":")[0].endswith(domain)]

    def used(self, domain: str) -> float:
        """The share of its budget that was used."""
        made = sum(self.began <= moment < self.ended for moment in self.times(domain))
        return made / (BUDGETS[domain] * (self.ended - self.began))


def share_budgets(site: Site, directory: Path, **settings: Any) -> Shared:
    """Two subdomains share one budget, a second domain has its own."""
    for domain, budget in BUDGETS.items():
        site.source(domain, requests_per_second=budget, max_concurrent=8)
    visits = [
        site.url(f"/c/bikes?page={n}", host)
        for n in range(1, 4)
        for host in ("www.bazaar-test.com", "cdn.bazaar-test.com")
    ]
    other = [site.url(f"/help?{n}", "www.other-test.com") for n in range(3)]
    site.bazaar.clear_log()
    crowd, members = site.crowd(PROCESSES, *visits, *other, until=SECONDS, directory=directory, **settings)
    with crowd:
        assert crowd.stdin is not None
        crowd.stdin.write("go\n")
        crowd.stdin.flush()
        # By then all know the rules of robots.txt and are at work.
        began = time.time() + 1.5
        time.sleep(SECONDS / 3)
        # What it had reserved is lost, a request or two; nobody waits for it.
        os.kill(members[0], signal.SIGKILL)
        told, _ = crowd.communicate(timeout=60)
    assert len(json.loads(told)) == PROCESSES - 1
    return Shared(site.bazaar.log(), began, began + SECONDS - 1.5)
