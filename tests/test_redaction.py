"""Secrets in the environment are hidden in text, and ordinary words are not."""

from __future__ import annotations

import pytest

from pricewatch.redaction import Redactor, holds_secret, secrets_in, without_secrets

ENVIRONMENT = {
    "DATABASE_URL": "postgresql://ada:pass%40word@db.example/prices",
    "REDIS_URL": "redis://:redis-password@redis.example:6379/0",
    "PROXIES_DATACENTER": "http://joe:first-proxy@p.example:1, http://joe:second-proxy@p.example:2",
    "PROXIES_RESIDENTIAL": "session-7:gateway-password@gate.example:3",
    "PRICEWATCH_PASSWORD": "correct horse",
    "PRICEWATCH_EGG_KEY": "0123456789abcdef0123456789abcdef",
    "PRICEWATCH_NOTIFY": "slack://tokenA-123/tokenB-456",
    "PRICEWATCH_NOTIFY_MAIL": "mailto://ada:mail-password@mail.example",
    "https_proxy": "http://out:outgoing-password@proxy.example",
    "PRICEWATCH_USER": "ada",
    "PATH": "/usr/bin",
}


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("cannot connect to postgresql://ada:pass%40word@db.example", "postgresql://[hidden]@db.example"),
        ("password is pass@word", "password is [hidden]"),
        ("redis://:redis-password@redis.example", "redis://[hidden]@redis.example"),
        ("tried first-proxy and second-proxy", "tried [hidden] and [hidden]"),
        ("gateway-password of session-7", "[hidden] of [hidden]"),
        # The header that a proxy gets: joe:first-proxy.
        ("Basic am9lOmZpcnN0LXByb3h5", "Basic [hidden]"),
        ("the horse is a correct horse", "the horse is a [hidden]"),
        ("POST https://hooks.example/tokenA-123/tokenB-456", "[hidden]/[hidden]"),
        ("mail-password, outgoing-password", "[hidden], [hidden]"),
        ("0123456789abcdef0123456789abcdef", "[hidden]"),
    ],
)
def test_secrets_are_hidden(text: str, hidden: str) -> None:
    assert hidden in Redactor(secrets_in(ENVIRONMENT))(text)


@pytest.mark.parametrize(
    ("name", "url", "password"),
    [
        ("DATABASE_URL", "postgresql://h/db?user=u&password=hunter2secret", "hunter2secret"),
        ("DATABASE_URL", "postgresql://h/db?sslpassword=hunter2secret&user=u", "hunter2secret"),
        ("DATABASE_URL", "postgresql://h/db?password=hunter%40secret", "hunter@secret"),
        ("DATABASE_URL", "postgresql://u:my/secretpw@h/db", "my/secretpw"),
        ("REDIS_URL", "redis://h:6379/0?password=hunter2secret", "hunter2secret"),
    ],
)
def test_passwords_are_hidden_wherever_drivers_accept_them(name: str, url: str, password: str) -> None:
    redact = Redactor(secrets_in({name: url}))
    assert redact(f"FATAL: {password} is wrong") == "FATAL: [hidden] is wrong"
    assert password not in redact(f"cannot connect to {url}")
    assert redact("cannot connect to h, port 6379") == "cannot connect to h, port 6379"


@pytest.mark.parametrize("text", ["ada reads /usr/bin of db.example", "prices of joe", "p.example:1", ""])
def test_ordinary_text_is_not_changed(text: str) -> None:
    assert Redactor(secrets_in(ENVIRONMENT))(text) == text
    assert Redactor(())(text) == text


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("DATABASE_URL", "postgresql://pricewatch:secret-word@db.example/pricewatch"),
        ("REDIS_URL", "redis://pricewatch:secret-word@127.0.0.1:6379/0"),
        ("PRICEWATCH_NOTIFY", "mailto://secret-word@mail.pricewatch.example, json://127.0.0.1:9/secret-word"),
    ],
)
def test_names_of_users_and_hosts_are_not_hidden(name: str, url: str) -> None:
    redact = Redactor(secrets_in({name: url}))
    text = "pricewatch.scheduling at 127.0.0.1 and mail.pricewatch.example"
    assert redact(f"{text}: secret-word") == f"{text}: [hidden]"


def test_processes_that_need_no_secret_get_none() -> None:
    assert without_secrets(ENVIRONMENT) == {"PRICEWATCH_USER": "ada", "PATH": "/usr/bin"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("url", "https://user:password@shop.example/1", True),
        ("FEEDS", '{"ftp://user:password@files.example/x": {}}', True),
        ("REDIS_URL", "redis://redis.example", True),
        ("REDIS_URL", "", False),
        ("url", "https://shop.example/@seller?mail=a@b.example", False),
        ("market", "bikes", False),
    ],
)
def test_credentials_in_arguments_are_recognised(name: str, value: str, expected: bool) -> None:
    assert holds_secret(name, value) is expected
