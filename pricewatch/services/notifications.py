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
from pricewatch.store.people import outbox

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
        waiting = outbox.claim(connection, clock.now(), most)
    through = 0
    for message in waiting:
        left, error = _deliver(message, known, sending)
        with engine.begin() as connection:
            if error is None:
                outbox.sent(connection, message["id"], clock.now())
                through += 1
            else:
                outbox.failed(connection, message["id"], message["attempts"], error, left, clock.now())
    return through


def _deliver(
    message: Mapping[str, Any], known: Mapping[str, str], send: Send
) -> tuple[list[str], str | None]:
    """Where it did not go, and what is wrong there; whoever has it must not get it again."""
    base = os.environ.get("PRICEWATCH_URL", "").rstrip("/")
    body = message["body"]
    if message["link"]:
        body += f"\n{base}{message['link']}"
    left, error = [], None
    for name in message["channels"] or [DEFAULT]:
        for place, address in _addresses(name, known):
            if address is None:
                error = f"there is no channel {place!r}: set {_PREFIX}_{place.upper()}"
            elif send(address, message["title"], body):
                continue
            else:
                error = f"the channel {place!r} did not take it"
            left.append(place)
    return left, error


def _addresses(name: str, known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Each address of a channel, as `name#2` where there are several; None where there is no such thing."""
    from apprise.utils.parse import parse_urls

    if name in known:
        found = parse_urls(known[name]) or [known[name]]  # type: ignore[no-untyped-call]
        return [(f"{name}#{place}" if len(found) > 1 else name, one) for place, one in enumerate(found, 1)]
    channel, _, number = name.partition("#")
    return [one for one in _addresses(channel, known) if one[0] == name] if number else [(name, None)]


def _send(address: str, title: str, body: str) -> bool:
    import apprise

    service = apprise.Apprise()
    if not service.add(address):
        logger.error("An address of PRICEWATCH_NOTIFY is none that apprise knows")
        return False
    # Titles come from sites: they are text, not markup.
    return bool(service.notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT))
