"""People and tokens in the web interface and by the API, and the audit log that shows who changed what."""

from __future__ import annotations

import re

import httpx

from pricewatch.rules.access.client_address import parse_networks
from pricewatch.rules.access.login_delay import FREE_FAILURES
from pricewatch.vocabulary import AccessRole
from pricewatch.web.configuration import Configuration
from tests.databases import Database
from tests.web.accounts import PASSPHRASE, add_person, bearer, log_in, make_token
from tests.web.conftest import PASSWORD, Browser, client_of
from tests.web.test_every_page import visible_text

ADA = ("ada", "correct horse")
SPACES = "  spaces at both ends  "


def test_people_are_added_changed_and_removed_on_a_page(database: Database) -> None:
    with client_of(PASSWORD) as client, client_of(PASSWORD) as carol:
        log_in(client, *ADA)
        browser = Browser(client)
        added = browser.post("/people", page="/people", name="Carol", role="read", password=SPACES)
        assert added.status_code == 303
        assert "carol is added." in visible_text(client, "/people")
        assert log_in(carol, "carol", SPACES.strip()).status_code == 401
        assert log_in(carol, "carol", SPACES).status_code == 303
        for fields, why in (
            (
                {"name": "carol", "role": "read", "password": PASSPHRASE},
                "There is already a person named carol.",
            ),
            ({"name": "a b", "role": "read", "password": PASSPHRASE}, "A name has 1 to 64 letters"),
            ({"name": "dave", "role": "king", "password": PASSPHRASE}, "Unknown role &#39;king&#39;."),
            ({"name": "dave", "role": "read", "password": "password1234"}, "one of the commonest"),
            ({"name": "ADA", "role": "read", "password": PASSPHRASE}, "administrator of the environment"),
        ):
            answer = browser.post("/people", page="/people", **fields)
            assert (answer.status_code, why in answer.text) == (400, True), why
        browser.post("/people/carol/role", page="/people", role="operate")
        browser.post("/people/carol/password", page="/people", password=PASSPHRASE)
        browser.post("/people/carol/enabled", page="/people", enabled="no")
        assert log_in(carol, "carol").status_code == 401
        browser.post("/people/carol/enabled", page="/people", enabled="yes")
        assert log_in(carol, "carol").status_code == 303
        make_token(database, AccessRole.ADMIN, "deploy")
        database.do("UPDATE access_tokens SET created_by = 'carol'")
        browser.post("/people/carol/remove", page="/people")
        assert "Tokens that carol made stay valid: deploy." in visible_text(client, "/people")
        assert log_in(carol, "carol").status_code == 401
        assert browser.post("/people/carol/remove", page="/people").status_code == 400
    actions = database.rows("SELECT action FROM audit WHERE person = 'ada' AND subject = 'carol' ORDER BY id")
    assert [action for (action,) in actions] == [
        *("person added", "person role", "password changed", "person disabled", "person enabled"),
        "person removed",
    ]


def test_people_are_managed_by_the_api(client: httpx.Client) -> None:
    person = {"name": "carol", "role": "operate", "password": PASSPHRASE}
    added = client.post("/api/people", json=person)
    assert (added.status_code, added.json()["role"], added.json()["sessions"]) == (201, "operate", 0)
    assert "password" not in "".join(added.json()).replace("password_changed_at", "")
    assert client.post("/api/people", json={**person, "name": "dave", "password": "short"}).status_code == 400
    assert client.put("/api/people/carol", json={"role": "admin", "enabled": False}).json()["role"] == "admin"
    assert [(row["name"], row["enabled"]) for row in client.get("/api/people").json()] == [("carol", False)]
    assert client.post("/api/people/nobody/password", json={"password": PASSPHRASE}).status_code == 404
    assert client.delete("/api/people/carol").json() == {"name": "carol", "tokens": []}
    assert client.get("/api/people").json() == []


def test_a_token_is_shown_once(database: Database) -> None:
    with client_of(PASSWORD) as client:
        log_in(client, *ADA)
        made = Browser(client).post(
            "/tokens", page="/tokens", name="prometheus", role="read", expires_days="30"
        )
        found = re.search(r'id="made-token">(pw_[\w-]{43})<', made.text)
        assert (made.status_code, bool(found)) == (200, True)
        assert found
        token = found[1]
        assert made.headers["cache-control"] == "no-store"
        assert token not in client.get("/tokens").text
        with client_of(PASSWORD, headers=bearer(token)) as program:
            assert program.get("/metrics").status_code == 200
            assert program.post("/api/crawl/execute", json={}).status_code == 403
            assert "127.0.0.1" in visible_text(client, "/tokens")
            answer = Browser(client).post("/tokens", page="/tokens", name="prometheus", role="read")
            assert (answer.status_code, "There is already a token named prometheus" in answer.text) == (
                400,
                True,
            )
            token_id = database.value("SELECT id FROM access_tokens")
            Browser(client).post(f"/tokens/{token_id}/revoke", page="/tokens")
            assert program.get("/metrics").status_code == 401
        # The name is free again.
        assert (
            Browser(client).post("/tokens", page="/tokens", name="prometheus", role="read").status_code == 200
        )


def test_tokens_are_managed_by_the_api(client: httpx.Client) -> None:
    made = client.post("/api/tokens", json={"name": "deploy", "role": "admin", "expires_days": 9}).json()
    assert made["token"].startswith("pw_")
    (listed,) = client.get("/api/tokens").json()
    assert listed == {name: value for name, value in made.items() if name != "token"}
    assert client.delete(f"/api/tokens/{made['id']}").json() == {"id": made["id"], "name": "deploy"}
    assert client.delete(f"/api/tokens/{made['id']}").status_code == 404


def test_the_audit_log_is_filtered_and_paged(client: httpx.Client, database: Database) -> None:
    database.do(
        "INSERT INTO audit (at, person, action, subject) SELECT now(), 'p' || n % 2, 'act' || n % 3, 's' || n"
        " FROM generate_series(1, 700) AS n"
    )
    text = client.get("/audit?person=p1&action=act0").text
    subjects = [int(found) for found in re.findall(r">s(\d+)<", text)]
    assert len(subjects) == 100
    assert all(number % 2 == 1 and number % 3 == 0 for number in subjects)
    following = re.search(r'rel="next" href="([^"]+)"', text)
    assert following
    assert "person=p1" in following[1]
    later = client.get(following[1].replace("&amp;", "&")).text
    assert [int(found) for found in re.findall(r">s(\d+)<", later)] == list(range(min(subjects) - 6, 0, -6))
    page = client.get("/api/audit", params={"person": "p0", "limit": 2}).json()
    assert [row["subject"] for row in page["items"]] == ["s700", "s698"]
    assert client.get("/api/audit", params={"action": "nothing"}).json() == {"items": [], "next": None}


def test_logins_and_logouts_are_in_the_audit_log(database: Database) -> None:
    with client_of(PASSWORD) as client:
        log_in(client, "ada", "wrong password")
        log_in(client, *ADA)
        Browser(client).post("/logout")
    entries = [tuple(row) for row in database.rows("SELECT person, action, address FROM audit ORDER BY id")]
    assert entries == [("ada", action, "127.0.0.1") for action in ("login failed", "login", "logout")]


def test_behind_a_trusted_proxy_each_client_has_its_own_count(database: Database) -> None:
    add_person(database, "carol", AccessRole.READ)
    trusting = Configuration(*ADA, trusted_proxies=parse_networks("127.0.0.1"))
    with client_of(trusting) as client:
        client.headers["X-Forwarded-For"] = "203.0.113.66"
        for _ in range(FREE_FAILURES + 1):
            assert log_in(client, "carol", "wrong").status_code == 401
        database.do("UPDATE login_failures SET failures = failures + 5 WHERE address LIKE '% carol'")
        assert log_in(client, "carol").status_code == 429
        # What the attacker writes into the header itself is further left.
        client.headers["X-Forwarded-For"] = "198.51.100.1, 203.0.113.66"
        assert log_in(client, "carol").status_code == 429
        client.headers["X-Forwarded-For"] = "198.51.100.1"
        assert log_in(client, "carol").status_code == 303
    assert database.value("SELECT address FROM audit WHERE action = 'login'") == "198.51.100.1"


def test_without_a_trusted_proxy_the_header_changes_nothing(database: Database) -> None:
    add_person(database, "carol", AccessRole.READ)
    with client_of(PASSWORD) as client:
        for number in range(FREE_FAILURES + 1):
            client.headers["X-Forwarded-For"] = f"203.0.113.{number}"
            assert log_in(client, "carol", "wrong").status_code == 401
        database.do("UPDATE login_failures SET failures = failures + 5 WHERE address LIKE '% carol'")
        assert log_in(client, "carol").status_code == 429
        # Everybody else behind the same proxy still logs in.
        assert log_in(client, *ADA).status_code == 303
