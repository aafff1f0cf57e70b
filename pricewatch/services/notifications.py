"""Send the messages in the outbox through apprise to the channels named in the environment.

`PRICEWATCH_NOTIFY` has the addresses of the default channel, `PRICEWATCH_NOTIFY_<NAME>` those of others.
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
    """Return the channels by name, with their addresses, which are secrets and never shown."""
    found = {}
    for name, addresses in environment.items():
        if addresses.strip() and (name == _PREFIX or name.startswith(f"{_PREFIX}_")):
            found[name.removeprefix(_PREFIX).lstrip("_").lower() or DEFAULT] = addresses.strip()
    return found


def deliver(engine: Engine, send: Send | None = None, most: int = 20) -> int:
    """Send the messages that are due, and return how many were sent. Failed ones are retried later."""
    known = channels()
    if not known:
        return 0
    send = send or _send
    with engine.begin() as connection:
        claimed = outbox.claim(connection, clock.now(), most)
    sent = 0
    for message in claimed:
        left, error = _deliver(message, known, send)
        with engine.begin() as connection:
            if error is None:
                outbox.mark_sent(connection, message["id"], clock.now())
                sent += 1
            else:
                outbox.mark_failed(connection, message["id"], message["attempts"], error, left, clock.now())
    return sent


def _deliver(
    message: Mapping[str, Any], known: Mapping[str, str], send: Send
) -> tuple[list[str], str | None]:
    """Send one message; return the channels that still need it, and the error of the last one."""
    base = os.environ.get("PRICEWATCH_URL", "").rstrip("/")
    body = message["body"]
    if message["link"]:
        body += f"\n{base}{message['link']}"
    left, error = [], None
    for name in message["channels"] or [DEFAULT]:
        for place, address in _addresses(name, known):
            if address is None:
                error = f"unknown channel {place!r}: set {_PREFIX}_{place.upper()}"
            elif send(address, message["title"], body):
                continue
            else:
                error = f"the channel {place!r} did not accept it"
            left.append(place)
    return left, error


def _addresses(name: str, known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return each address of a channel, named `name#2` if there are several; None for an unknown channel."""
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
        logger.error("apprise does not recognise an address in PRICEWATCH_NOTIFY")
        return False
    # Titles come from sites: send them as text, not as markup.
    return bool(service.notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT))
