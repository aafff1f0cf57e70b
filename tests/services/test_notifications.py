"""Delivery: through apprise to a real server, tried again while that is away, and never twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from pricewatch.services import notifications
from pricewatch.store.people import outbox
from tests.databases import Database

NOW = datetime.now(UTC)


class Webhook:
    """A server that takes messages, or refuses them."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.status = 200
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.status == 200:
                    hook.received.append(json.loads(body))
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"json://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    made = Webhook()
    monkeypatch.setenv("PRICEWATCH_NOTIFY", made.address)
    monkeypatch.setenv("PRICEWATCH_URL", "https://watch.example")
    yield made
    made.server.shutdown()
    made.server.server_close()


def say(database: Database, key: str = "a", **given: Any) -> bool:
    message = {
        "kind": "watch",
        "title": "<b>It</b> fell",
        "body": "By half.",
        "link": "/listings/1",
        "now": NOW,
    }
    return bool(database.call(outbox.add, key=key, **{**message, **given}))


def test_a_message_goes_out_once_with_its_link(database: Database, webhook: Webhook) -> None:
    assert say(database)
    assert not say(database)
    assert [notifications.deliver(database.engine) for _ in range(2)] == [1, 0]
    (received,) = webhook.received
    assert received["title"] == "<b>It</b> fell"
    assert received["message"] == "By half.\nhttps://watch.example/listings/1"


def test_what_is_refused_is_tried_again_later(database: Database, webhook: Webhook) -> None:
    say(database)
    webhook.status = 500
    assert notifications.deliver(database.engine) == 0
    assert notifications.deliver(database.engine) == 0
    row = database.row("SELECT * FROM messages")
    assert (row.attempts, row.sent_at) == (1, None)
    assert row.next_try_at > NOW
    webhook.status = 200
    database.do("UPDATE messages SET next_try_at = :now", now=NOW)
    assert notifications.deliver(database.engine) == 1
    assert len(webhook.received) == 1


def test_who_has_it_does_not_get_it_again(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A port where nobody listens any more.
    away = Webhook()
    away.server.shutdown()
    away.server.server_close()
    monkeypatch.setenv("PRICEWATCH_NOTIFY", f"{away.address}, {webhook.address}")
    monkeypatch.setenv("PRICEWATCH_NOTIFY_TEAM", webhook.address)
    say(database, channels=["default", "team"])
    for _ in range(3):
        assert notifications.deliver(database.engine) == 0
        database.do("UPDATE messages SET next_try_at = :now", now=NOW)
    assert len(webhook.received) == 2
    assert database.value("SELECT error FROM messages") == "the channel 'default#1' did not accept it"
    monkeypatch.setenv("PRICEWATCH_NOTIFY", f"{webhook.address} {webhook.address}")
    assert notifications.deliver(database.engine) == 1
    assert len(webhook.received) == 3
    # One that is no longer there need not be told.
    say(database, key="b", channels=["default#3"])
    assert notifications.deliver(database.engine) == 1
    assert len(webhook.received) == 3


def test_what_never_gets_through_is_given_up_and_says_so(database: Database, webhook: Webhook) -> None:
    say(database, channels=["nowhere"])
    for _ in range(outbox.MAX_ATTEMPTS + 1):
        notifications.deliver(database.engine)
        database.do("UPDATE messages SET next_try_at = :now", now=NOW)
    row = database.row("SELECT * FROM messages")
    assert row.given_up_at is not None
    assert "PRICEWATCH_NOTIFY_NOWHERE" in row.error
    assert row.attempts == outbox.MAX_ATTEMPTS


def test_nothing_is_claimed_where_there_is_no_channel(database: Database) -> None:
    say(database)
    assert notifications.deliver(database.engine) == 0
    assert database.value("SELECT attempts FROM messages") == 0


def test_channels_have_names() -> None:
    given = {"PRICEWATCH_NOTIFY": "a://", "PRICEWATCH_NOTIFY_TEAM": "b://", "PRICEWATCH_NOTIFY_X": " "}
    assert notifications.channels(given) == {"default": "a://", "team": "b://"}


def test_one_look_around_raises_and_tells(database: Database, webhook: Webhook) -> None:
    from pricewatch.services.minute_checks import run_minute_checks

    database.do(
        "UPDATE markets SET created_at = now() - interval '9 days', updated_at = now() - interval '9 days'"
    )
    assert [run_minute_checks(database.engine) for _ in range(2)] == [1, 0]
    assert webhook.received[0]["title"] == "[P2] market stale: bazaar-bikes"
    assert "https://watch.example/alerts#alert-" in webhook.received[0]["message"]
