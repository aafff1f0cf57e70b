"""`scrapy people` and `scrapy tokens`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pricewatch.services.logins import Logins
from pricewatch.store.people import audit_log
from tests.conftest import ROOT
from tests.databases import Database
from tests.terminal import on_terminal

FIRST, SECOND = "a violet bicycle", " two green umbrellas "


def run(database: Database, *words: str, typed: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.url, "PRICEWATCH_USER": "root"},
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.proof
def test_people_are_added_changed_and_removed(database: Database) -> None:
    logins = Logins(database.engine, "", "")

    def role_with(password: str) -> str | None:
        account = logins.check_password("carol", password, "127.0.0.1").account
        return account.role if account else None

    answers = [(question, f"{FIRST}\n".encode()) for question in (b"Password: ", b"Password again: ")]
    code, shown = on_terminal(database.url, "people", "add", "Carol", "--role", "operate", answers=answers)
    assert (code, "carol is added with the role operate." in shown) == (0, True)
    assert FIRST not in shown
    assert role_with(FIRST) == "operate"
    changed = run(database, "people", "password", "carol", typed=f"{SECOND}\n")
    assert changed == (0, "The password of carol is changed. All sessions of carol have ended.\n")
    assert [role_with(FIRST), role_with(SECOND)] == [None, "operate"]
    assert run(database, "people", "role", "carol", "admin")[0] == 0
    assert role_with(SECOND) == "admin"
    code, listed = run(database, "people", "list", "--json")
    assert (code, '"role": "admin"' in listed, "password_hash" in listed) == (0, True, False)
    assert run(database, "people", "remove", "carol") == (0, "carol is removed.\n")
    entries = database.call(audit_log.find_entries, most=50)
    actions = ["person added", "password changed", "person role", "person removed"]
    changes = [entry for entry in reversed(entries) if entry["action"] != audit_log.FAILED_LOGIN]
    assert [entry["action"] for entry in changes] == actions


@pytest.mark.proof
def test_bad_input_is_refused_with_a_sentence(database: Database) -> None:
    for words, typed, why in (
        (("people", "add", "carol"), "short\n", "A password has at least 12 characters"),
        (("people", "add", "carol", FIRST), "", "Unknown argument 'a violet bicycle'."),
        (("tokens", "revoke", "nothing"), "", "There is no token named 'nothing' in use."),
    ):
        code, shown = run(database, *words, typed=typed)
        assert (code, why in shown) == (2, True), shown
        assert "Traceback" not in shown


@pytest.mark.proof
def test_a_token_is_printed_once_and_revoked(database: Database) -> None:
    logins = Logins(database.engine, "", "")
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "tokens", "make", "prometheus"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.url},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    # Only the token goes to standard output, for `TOKEN=$(scrapy tokens make …)`.
    token = done.stdout.strip()
    assert logins.find_token(token, "127.0.0.1", database.value("SELECT now()")) is not None
    code, listed = run(database, "tokens", "list")
    assert (code, "prometheus" in listed, token in listed) == (0, True, False)
    assert run(database, "tokens", "revoke", "prometheus") == (0, "The token prometheus is revoked.\n")
    assert logins.find_token(token, "127.0.0.1", database.value("SELECT now()")) is None
    actions = [row.action for row in database.rows("SELECT action FROM audit ORDER BY id")]
    assert actions == ["token made", "token revoked"]
