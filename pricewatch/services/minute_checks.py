"""One look around, every minute, by whoever leads: what is wrong, what changed, and telling it."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Engine

from pricewatch import clock
from pricewatch.rules.staleness import StalePrices
from pricewatch.services import health_checks, notifications
from pricewatch.store.people import outbox, watch_rules
from pricewatch.store.writing import metric_totals


def run_minute_checks(engine: Engine, stale_prices: StalePrices | None = None) -> int:
    """Each part in a transaction of its own, so that one that fails keeps none of the others back.

    Says how many messages went out.
    """
    now = clock.now()
    find_wrong = partial(health_checks.evaluate, stale_prices=stale_prices)
    for part in (find_wrong, watch_rules.evaluate, outbox.add_alerts, metric_totals.add_up):
        with engine.begin() as connection:
            part(connection, now)
    return notifications.deliver(engine)
