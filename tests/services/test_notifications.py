"""Delivery of messages by apprise to a real server: retried while the server fails, and never sent twice."""

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
    """A server that accepts or refuses messages."""

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


def add_message(database: Database, key: str = "a", **values: Any) -> bool:
    message = {
        "kind": "watch",
        "title": "<b>It</b> fell",
        "body": "By half.",
        "link": "/listings/1",
        "now": NOW,
    }
    return bool(database.call(outbox.add, key=key, **{**message, **values}))


def test_message_is_sent_once_with_its_link(database: Database, webhook: Webhook) -> None:
    assert add_message(database)
    assert not add_message(database)
    assert [notifications.deliver(database.engine) for _ in range(2)] == [1, 0]
    (received,) = webhook.received
    assert received["title"] == "<b>It</b> fell"
    assert received["message"] == "By half.\nhttps://watch.example/listings/1"


def test_refused_message_is_retried_later(database: Database, webhook: Webhook) -> None:
    add_message(database)
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


def test_retry_skips_channels_that_accepted_the_message(
    database: Database, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing listens on this port any more.
    stopped = Webhook()
    stopped.server.shutdown()
    stopped.server.server_close()
    monkeypatch.setenv("PRICEWATCH_NOTIFY", f"{stopped.address}, {webhook.address}")
    monkeypatch.setenv("PRICEWATCH_NOTIFY_TEAM", webhook.address)
    add_message(database, channels=["default", "team"])
    for _ in range(3):
        assert notifications.deliver(database.engine) == 0
        database.do("UPDATE messages SET next_try_at = :now", now=NOW)
    assert len(webhook.received) == 2
    assert database.value("SELECT error FROM messages") == "the channel 'default#1' did not accept it"
    monkeypatch.setenv("PRICEWATCH_NOTIFY", f"{webhook.address} {webhook.address}")
    assert notifications.deliver(database.engine) == 1
    assert len(webhook.received) == 3
    # A removed channel counts as delivered.
    add_message(database, key="b", channels=["default#3"])
    assert notifications.deliver(database.engine) == 1
    assert len(webhook.received) == 3


def test_undeliverable_message_is_given_up_with_an_error(database: Database, webhook: Webhook) -> None:
    add_message(database, channels=["nowhere"])
    for _ in range(outbox.MAX_ATTEMPTS + 1):
        notifications.deliver(database.engine)
        database.do("UPDATE messages SET next_try_at = :now", now=NOW)
    row = database.row("SELECT * FROM messages")
    assert row.given_up_at is not None
    assert "PRICEWATCH_NOTIFY_NOWHERE" in row.error
    assert row.attempts == outbox.MAX_ATTEMPTS


def test_no_message_is_claimed_without_a_channel(database: Database) -> None:
    add_message(database)
    assert notifications.deliver(database.engine) == 0
    assert database.value("SELECT attempts FROM messages") == 0


def test_channel_names_come_from_the_variables() -> None:
    environment = {"PRICEWATCH_NOTIFY": "a://", "PRICEWATCH_NOTIFY_TEAM": "b://", "PRICEWATCH_NOTIFY_X": " "}
    assert notifications.channels(environment) == {"default": "a://", "team": "b://"}


def test_minute_checks_raise_an_alert_and_send_it(database: Database, webhook: Webhook) -> None:
    from pricewatch.services.minute_checks import run_minute_checks

    database.do(
        "UPDATE markets SET created_at = now() - interval '9 days', updated_at = now() - interval '9 days'"
    )
    assert [run_minute_checks(database.engine) for _ in range(2)] == [1, 0]
    assert webhook.received[0]["title"] == "[P2] market stale: bazaar-bikes"
    assert "https://watch.example/alerts#alert-" in webhook.received[0]["message"]
