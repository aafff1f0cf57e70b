"""Sessions of people: how they begin and what ends them."""

from __future__ import annotations

import html
from datetime import timedelta
from typing import Any

import httpx
import pytest
from a2wsgi import ASGIMiddleware
from fastapi import Request, Response

from pricewatch.errors import UserError
from pricewatch.services.logins import SessionLimits
from pricewatch.vocabulary import AccessRole
from pricewatch.web.app import create_app
from pricewatch.web.auth import Auth
from pricewatch.web.configuration import Configuration
from tests.databases import Database
from tests.parsing.test_hostile_data import cpu_seconds
from tests.web.accounts import PASSPHRASE, add_person, bearer, log_in, make_token
from tests.web.conftest import BROWSER, PASSWORD, Browser, client_of
from tests.web.test_every_page import visible_text

NEW = "two green umbrellas"
BACKSLASH = "\\"
# Less is noise; a quadratic reader of the long cookie takes seconds.
LEAST_SECONDS = 0.001


def is_logged_in(client: httpx.Client) -> bool:
    return client.get("/listings", headers=BROWSER).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"method": "PUT", "url": "/api/people/carol", "json": {"role": "read"}},
        {"method": "PUT", "url": "/api/people/carol", "json": {"enabled": False}},
        {"method": "POST", "url": "/api/people/carol/password", "json": {"password": NEW}},
        {"method": "DELETE", "url": "/api/people/carol"},
    ],
    ids=["role", "disabled", "password", "removed"],
)
def test_a_change_of_a_person_ends_the_sessions(database: Database, change: dict[str, object]) -> None:
    for name in ("carol", "dave"):
        add_person(database, name, AccessRole.OPERATE)
    with client_of(PASSWORD) as carol, client_of(PASSWORD) as dave, client_of(PASSWORD) as admin:
        assert log_in(carol, "carol").status_code == 303
        log_in(dave, "dave")
        assert is_logged_in(carol)
        assert admin.request(auth=("ada", "correct horse"), **change).is_success  # type: ignore[arg-type]
        assert database.rows("SELECT person FROM web_sessions") == [("dave",)]
        assert not is_logged_in(carol)
        assert is_logged_in(dave)


def test_a_session_does_not_survive_a_password_that_was_changed_elsewhere(database: Database) -> None:
    """Even if the row of the session is still there, such as that of a login at the same moment."""
    add_person(database, "carol", AccessRole.OPERATE)
    with client_of(PASSWORD) as client:
        log_in(client, "carol")
        database.do("UPDATE people SET password_hash = replace(password_hash, '$16$', '$32$')")
        assert not is_logged_in(client)
        assert database.value("SELECT count(*) FROM web_sessions") == 0


def test_a_changed_password_of_the_environment_ends_the_sessions(database: Database) -> None:
    with client_of(PASSWORD) as client:
        log_in(client, "ada", "correct horse")
        assert is_logged_in(client)
        cookies = dict(client.cookies)
    with client_of(PASSWORD, cookies=cookies) as restarted:
        assert is_logged_in(restarted)
    for changed in (Configuration("ada", "another horse"), Configuration("eva", "correct horse")):
        with client_of(PASSWORD, cookies=cookies) as same, client_of(changed, cookies=cookies) as other:
            log_in(same, "ada", "correct horse")
            assert not is_logged_in(other)
    # Nothing that is stored can be compared with a guessed password.
    stored = str(database.rows("SELECT * FROM web_sessions"))
    assert cookies["pricewatch_session"] not in stored


def test_sessions_end_when_idle_and_after_their_lifetime(database: Database) -> None:
    limits = SessionLimits(timedelta(hours=12), timedelta(minutes=30))
    with client_of(Configuration("ada", "correct horse", sessions=limits)) as client:
        for column, minutes in (("last_seen_at", 31), ("expires_at", 12 * 60 + 1)):
            log_in(client, "ada", "correct horse")
            assert is_logged_in(client)
            database.do(f"UPDATE web_sessions SET {column} = {column} - interval '{minutes} minutes'")
            assert not is_logged_in(client)


def test_use_is_recorded_once_a_minute_and_not_by_pages_that_refresh_themselves(database: Database) -> None:
    seconds = "SELECT round(extract(epoch FROM now() - last_seen_at)) FROM web_sessions"
    with client_of(PASSWORD) as client:
        log_in(client, "ada", "correct horse")
        database.do("UPDATE web_sessions SET last_seen_at = now() - interval '30 seconds'")
        client.get("/listings")
        assert database.value(seconds) >= 30
        database.do("UPDATE web_sessions SET last_seen_at = now() - interval '10 minutes'")
        assert client.get("/fragments/running", headers={"X-Fragment": "1"}).status_code == 200
        assert database.value(seconds) >= 600
        client.get("/listings")
        assert database.value(seconds) < 60


def test_a_login_begins_a_new_session_and_ends_the_one_of_the_browser(database: Database) -> None:
    with client_of(PASSWORD) as client:
        # A token that somebody else put into the browser is not taken over.
        client.cookies.set("pricewatch_session", "planted", domain="127.0.0.1")
        log_in(client, "ada", "correct horse")
        first = client.cookies.get("pricewatch_session", domain="127.0.0.1")
        assert first != "planted"
        log_in(client, "ada", "correct horse")
        assert client.cookies.get("pricewatch_session", domain="127.0.0.1") != first
        assert database.value("SELECT count(*) FROM web_sessions") == 1


@pytest.mark.parametrize(
    ("configuration", "name", "is_secure"),
    [
        (PASSWORD, "pricewatch_session", False),
        (Configuration("ada", "correct horse", secure_cookies=True), "__Host-pricewatch_session", True),
    ],
)
def test_the_cookie_is_bound_to_this_host(
    database: Database, configuration: Configuration, name: str, is_secure: bool
) -> None:
    with client_of(configuration) as client:
        cookie = log_in(client, "ada", "correct horse").headers["set-cookie"]
    assert cookie.startswith(f"{name}=")
    assert {"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=43200"} <= set(cookie.split("; "))
    assert cookie.endswith("; Secure") is is_secure
    assert "Domain" not in cookie


OTHER_COOKIES = {
    "long": f'theme="dark, light"; pricewatch="{BACKSLASH * 10_000}"; a={"x" * 10_000}',
    "similar": 'pricewatch_session="quoted"; pricewatch_sessions=other; Pricewatch_session=x',
    "malformed": 'x="unterminated; =; ;; a b c=d; pricewatch_session',
}


@pytest.mark.parametrize("others", OTHER_COOKIES.values(), ids=OTHER_COOKIES)
def test_other_cookies_of_the_host_do_not_disturb_a_login(database: Database, others: str) -> None:
    with client_of(PASSWORD, headers={"Cookie": others}) as client:
        session = log_in(client, "ada", "correct horse").headers["set-cookie"].partition(";")[0]
        assert not is_logged_in(client)
        for header in (f"{others}; {session}", f"{session}; {others}"):
            client.headers["Cookie"] = header
            assert is_logged_in(client), header[:50]


@pytest.mark.parametrize("others", OTHER_COOKIES.values(), ids=OTHER_COOKIES)
def test_the_framework_sees_only_our_cookies(database: Database, others: str) -> None:
    seen: list[dict[str, str]] = []

    def endpoint(request: Request) -> Response:
        seen.append(request.cookies)
        return Response()

    application: Any = create_app(Configuration())
    application.add_route("/seen", endpoint)
    served: Any = ASGIMiddleware(application)
    with httpx.Client(transport=httpx.WSGITransport(app=served), base_url="http://127.0.0.1") as client:
        cookies = f"{others}; pricewatch_session=s-1; pricewatch_flash=good%3Ayes"
        assert client.get("/seen", headers={"Cookie": cookies}).status_code == 200
    assert seen == [{"pricewatch_session": "s-1", "pricewatch_flash": "good%3Ayes"}]


def test_a_hostile_cookie_is_read_in_linear_time(database: Database) -> None:
    """16 times the length may take 32 times the time; 256 times would be quadratic."""
    auth = Auth(PASSWORD, database.engine)
    with client_of(PASSWORD) as client:

        def request(header: str) -> None:
            assert client.get("/login", headers={"Cookie": header}).status_code == 200

        for read in (auth._session_cookie, request):
            short, long = (
                min(cpu_seconds(lambda: read(header)) for _ in range(3))  # noqa: B023 - called at once
                for header in (f'pricewatch_session="{BACKSLASH * length}"' for length in (4_000, 64_000))
            )
            assert long < 32 * max(short, LEAST_SECONDS)
    assert auth._session_cookie(f'pricewatch_session="{BACKSLASH * 15_900}"; pricewatch_session=x') == "x"


def test_the_message_of_a_change_may_contain_any_character(database: Database) -> None:
    name = 'ci/cd "ä"; 100 %'
    make_token(database, AccessRole.READ, name)
    with client_of(PASSWORD) as client:
        log_in(client, "ada", "correct horse")
        Browser(client).post("/tokens/1/revoke", page="/tokens")
        assert f"The token {name} is revoked." in html.unescape(visible_text(client, "/tokens"))


def test_people_see_and_end_their_own_sessions(database: Database) -> None:
    for name in ("carol", "dave"):
        add_person(database, name, AccessRole.READ)
    with client_of(PASSWORD) as one, client_of(PASSWORD) as two, client_of(PASSWORD) as three:
        one.headers["User-Agent"] = "Browser One"
        log_in(one, "carol")
        for other in (two, three):
            log_in(other, "carol")
        with client_of(PASSWORD) as dave:
            log_in(dave, "dave")
            page = visible_text(one, "/account")
            assert page.count("Browser One") == 1
            assert page.count(" End ") == 3 + page.count("End all")
            theirs = database.value("SELECT id FROM web_sessions WHERE person = 'dave'")
            answer = Browser(one).post(f"/account/sessions/{theirs}/end", page="/account")
            assert answer.status_code == 404
            last = database.value("SELECT max(id) FROM web_sessions WHERE person = 'carol'")
            Browser(one).post(f"/account/sessions/{last}/end", page="/account")
            assert [is_logged_in(each) for each in (one, two, three, dave)] == [True, True, False, True]
            Browser(one).post("/account/sessions/end-others", page="/account")
            assert [is_logged_in(each) for each in (one, two, dave)] == [True, False, True]


def test_people_change_their_own_password_with_the_current_one(database: Database) -> None:
    add_person(database, "carol", AccessRole.READ)
    with client_of(PASSWORD) as client, client_of(PASSWORD) as elsewhere:
        log_in(client, "carol")
        log_in(elsewhere, "carol")
        for current, new, repeated, why in (
            ("wrong", NEW, NEW, "The current password is wrong."),
            (PASSPHRASE, NEW, NEW + "x", "The two new passwords differ."),
            (PASSPHRASE, "short", "short", "A password has at least 12 characters"),
        ):
            fields = {"current": current, "password": new, "repeated": repeated}
            Browser(client).post("/account/password", page="/account", **fields)
            assert why in visible_text(client, "/account")
        cookie = dict(client.cookies)
        fields = {"current": PASSPHRASE, "password": NEW, "repeated": NEW}
        Browser(client).post("/account/password", page="/account", **fields)
        assert "Your password is changed." in visible_text(client, "/account")
        assert is_logged_in(client)
        assert dict(client.cookies) != cookie
        assert not is_logged_in(elsewhere)
        assert log_in(elsewhere, "carol").status_code == 401
        assert log_in(elsewhere, "carol", NEW).status_code == 303
    assert NEW not in str(database.rows("SELECT * FROM people")) + str(database.rows("SELECT * FROM audit"))


def test_tokens_and_the_administrator_have_no_password_to_change(database: Database) -> None:
    token = make_token(database, AccessRole.READ)
    with client_of(PASSWORD, headers=bearer(token)) as client:
        assert "A token has no password" in visible_text(client, "/account")
    with client_of(PASSWORD) as client:
        log_in(client, "ada", "correct horse")
        fields = {"current": "x", "password": "x", "repeated": "x"}
        answer = Browser(client).post("/account/password", page="/account", **fields)
        assert (answer.status_code, "PRICEWATCH_PASSWORD" in answer.text) == (400, True)


def test_limits_of_sessions_are_read_from_the_environment() -> None:
    values = {"PRICEWATCH_SESSION_HOURS": "1.5", "PRICEWATCH_SESSION_IDLE_MINUTES": "5"}
    read = Configuration.from_environment(values).sessions
    assert (read.lifetime, read.idle) == (timedelta(minutes=90), timedelta(minutes=5))
    for wrong in ("0", "-1", "soon", "inf", "nan"):
        with pytest.raises(UserError, match="PRICEWATCH_SESSION_HOURS is"):
            Configuration.from_environment({"PRICEWATCH_SESSION_HOURS": wrong})
