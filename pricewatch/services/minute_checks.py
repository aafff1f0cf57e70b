"""What the leading node does every minute: health checks, watch rules, metrics, and sending messages."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Engine

from pricewatch import clock
from pricewatch.rules.staleness import StalePrices
from pricewatch.services import health_checks, notifications
from pricewatch.store.operations import metric_totals
from pricewatch.store.people import outbox, rule_evaluation


def run_minute_checks(engine: Engine, stale_prices: StalePrices | None = None) -> int:
    """Run each step in its own transaction, and return the number of messages sent."""
    now = clock.now()
    check_health = partial(health_checks.evaluate, stale_prices=stale_prices)
    for step in (check_health, rule_evaluation.evaluate, outbox.add_alerts, metric_totals.add_finished_runs):
        with engine.begin() as connection:
            step(connection, now)
    return notifications.deliver(engine)
