"""One look around, every minute, by whoever leads: what is wrong, what changed, and telling it."""

from __future__ import annotations

from sqlalchemy import Engine

from pricewatch import clock, notify
from pricewatch.store import conditions, figures, messages, watch


def look_around(engine: Engine) -> int:
    """Each part in a transaction of its own, so that one that fails keeps none of the others back.

    Says how many messages went out.
    """
    now = clock.now()
    for part in (conditions.evaluate, watch.evaluate, messages.add_alerts, figures.add_up):
        with engine.begin() as connection:
            part(connection, now)
    return notify.deliver(engine)
