"""One look around, every minute, by whoever leads: what is wrong, what changed, and telling it."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Engine

from pricewatch import clock, notify
from pricewatch.rules.staleness import StalePrices
from pricewatch.store import conditions, figures, messages, watch


def look_around(engine: Engine, stale_prices: StalePrices | None = None) -> int:
    """Each part in a transaction of its own, so that one that fails keeps none of the others back.

    Says how many messages went out.
    """
    now = clock.now()
    find_wrong = partial(conditions.evaluate, stale_prices=stale_prices)
    for part in (find_wrong, watch.evaluate, messages.add_alerts, figures.add_up):
        with engine.begin() as connection:
            part(connection, now)
    return notify.deliver(engine)
