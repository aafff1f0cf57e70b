"""Sends what waits in the outbox, through apprise, to where the environment says.

`PRICEWATCH_NOTIFY` holds the addresses of the default channel, `PRICEWATCH_NOTIFY_<NAME>` those of others.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Engine

from pricewatch import clock
from pricewatch.store import messages

logger = logging.getLogger(__name__)
DEFAULT = "default"
_PREFIX = "PRICEWATCH_NOTIFY"
Send = Callable[[str, str, str], bool]


def channels(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The name of each channel, and its addresses: secrets, never to be shown."""
    found = {}
    for name, addresses in environment.items():
        if addresses.strip() and (name == _PREFIX or name.startswith(f"{_PREFIX}_")):
            found[name.removeprefix(_PREFIX).lstrip("_").lower() or DEFAULT] = addresses.strip()
    return found


def deliver(engine: Engine, send: Send | None = None, most: int = 20) -> int:
    """Send what is due; what fails is tried again later. Says how many got through."""
    known = channels()
    if not known:
        return 0
    sending = send or _send
    with engine.begin() as connection:
        waiting = messages.claim(connection, clock.now(), most)
    through = 0
    for message in waiting:
        error = _deliver(message, known, sending)
        with engine.begin() as connection:
            if error is None:
                messages.sent(connection, message["id"], clock.now())
                through += 1
            else:
                messages.failed(connection, message["id"], message["attempts"], error, clock.now())
    return through


def _deliver(message: Mapping[str, Any], known: Mapping[str, str], send: Send) -> str | None:
    """None where it went to every channel it is for, else what is wrong."""
    base = os.environ.get("PRICEWATCH_URL", "").rstrip("/")
    body = message["body"]
    if message["link"]:
        body += f"\n{base}{message['link']}"
    for name in message["channels"] or [DEFAULT]:
        addresses = known.get(name)
        if addresses is None:
            return f"there is no channel {name!r}: set {_PREFIX}_{name.upper()}"
        if not send(addresses, message["title"], body):
            return f"the channel {name!r} did not take it"
    return None


def _send(addresses: str, title: str, body: str) -> bool:
    import apprise

    service = apprise.Apprise()
    if not service.add(addresses):
        logger.error("An address of PRICEWATCH_NOTIFY is none that apprise knows")
        return False
    # Titles come from sites: they are text, not markup.
    return bool(service.notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT))
