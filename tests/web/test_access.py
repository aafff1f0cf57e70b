"""Login, CSRF tokens, security headers, and the addresses to listen on."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from fastapi.routing import APIRoute

from pricewatch.errors import UserError
from pricewatch.rules.access.login_delay import FREE_FAILURES, delay
from pricewatch.web.api import api_routers
from pricewatch.web.api.common import change_context
from pricewatch.web.configuration import Configuration, check_address
from pricewatch.web.request_context import checked_form
from pricewatch.web.routes import page_routers
from tests.databases import Database
from tests.web.conftest import BROWSER, PASSWORD, Browser, client_of

# Without a session there is no token; the origin is checked all the same.
WITHOUT_TOKEN = {"/login"}


def test_every_changing_route_requires_a_token() -> None:
    checked = 0
    for route in [route for router in (*page_routers(), *api_routers()) for route in router.routes]:
        if (
            isinstance(route, APIRoute)
            and set(route.methods or ()) - {"GET", "HEAD"}
            and route.path not in WITHOUT_TOKEN
        ):
            checks = {each.call for each in route.dependant.dependencies}
            assert checks & {checked_form, change_context}, route.path
            checked += 1
    assert checked > 30


@pytest.mark.parametrize("path", ["/", "/listings", "/api/listings", "/static/x/style.css", "/nothing"])
def test_every_response_has_the_security_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_the_icon_needs_no_login(database: Database) -> None:
    with client_of(PASSWORD) as client:
        answer = client.get("/favicon.ico")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")


def test_a_form_needs_its_token(client: httpx.Client, browser: Browser, database: Database) -> None:
    for token in ("", "0" * 64):
        answer = client.post("/markets/bazaar-bikes", data={"token": token, "tier": "cool"}, headers=BROWSER)
        assert answer.status_code == 403
    assert browser.post("/markets/bazaar-bikes", tier="cool").status_code == 303
    assert database.value("SELECT tier FROM markets WHERE id = 'bazaar-bikes'") == "cool"


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
    ids=["origin", "fetch", "null"],
)
def test_posts_from_other_sites_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    assert client.post("/api/crawl/execute", json={}, headers=headers).status_code == 403
    assert client.post("/login", data={}, headers=headers).status_code == 403


def test_a_browser_needs_the_token_for_the_api_too(client: httpx.Client, browser: Browser) -> None:
    assert client.post("/api/crawl/execute", json={}, headers=BROWSER).status_code == 403
    headers = {**BROWSER, "X-CSRF-Token": browser.token()}
    assert client.post("/api/crawl/execute", json={}, headers=headers).status_code == 202


def test_without_a_password_foreign_host_names_are_refused(database: Database) -> None:
    with client_of(headers={"Host": "rebound.example"}) as client:
        assert client.get("/").status_code == 421
    with client_of(headers={"Host": "localhost:6800"}) as client:
        assert client.get("/").status_code == 200


def test_pages_and_api_require_a_login(database: Database) -> None:
    with client_of(PASSWORD) as client:
        answer = client.get("/listings")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/listings")
        # The query is kept, but the login does not lead back to an address that only accepts forms.
        location = client.get("/listings?q=a+b&market=x").headers["location"]
        assert location == "/login?next=/listings%3Fq%3Da%2Bb%26market%3Dx"
        assert client.post("/targets/preview", headers=BROWSER).headers["location"] == "/login"
        assert client.get("/api/listings").status_code == 401
        assert "Basic" in client.get("/metrics").headers["www-authenticate"]
        assert client.get("/static/x/style.css").status_code == 200


def test_a_person_logs_in_and_out(database: Database) -> None:
    with client_of(PASSWORD) as client:
        form = {"username": "ada", "password": "correct horse", "next": "/markets"}
        answer = client.post("/login", data=form, headers=BROWSER)
        assert (answer.status_code, answer.headers["location"]) == (303, "/markets")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert client.get("/markets").status_code == 200
        assert "only accepts submitted forms" in client.get("/targets/preview").text
        stored = database.value("SELECT token_hash FROM web_sessions")
        assert stored not in cookie
        assert Browser(client).post("/logout").status_code == 303
        assert client.get("/markets").status_code == 303
        assert database.value("SELECT count(*) FROM web_sessions") == 0


def test_a_login_does_not_redirect_to_other_sites(database: Database) -> None:
    with client_of(PASSWORD) as client:
        for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example"):
            form = {"username": "ada", "password": "correct horse", "next": elsewhere}
            assert client.post("/login", data=form).headers["location"] == "/"


def test_programs_use_basic_authentication(database: Database) -> None:
    with client_of(PASSWORD) as client:
        assert client.get("/api/runs", auth=("ada", "correct horse")).status_code == 200
        assert client.post("/api/crawl/execute", json={}, auth=("ada", "correct horse")).status_code == 202
        assert client.get("/api/runs", auth=("ada", "wrong")).status_code == 401
        assert client.get("/api/runs", headers={"Authorization": "Bearer x"}).status_code == 401
    assert database.value("SELECT person FROM audit WHERE action = 'crawl'") == "ada"


def test_repeated_wrong_passwords_are_delayed(database: Database) -> None:
    with client_of(PASSWORD) as client:
        for _ in range(FREE_FAILURES + 1):
            assert client.post("/login", data={"username": "ada", "password": "guess"}).status_code == 401
        database.do("UPDATE login_failures SET failures = failures + 5")
        correct = {"username": "ada", "password": "correct horse"}
        answer = client.post("/login", data=correct)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 0
        assert client.get("/api/runs", auth=("ada", "correct horse")).status_code == 429
        database.do("UPDATE login_failures SET last_at = last_at - interval '1 hour'")
        assert client.post("/login", data=correct).status_code == 303


def test_login_delays_grow_up_to_15_minutes() -> None:
    waits = [delay(failures).total_seconds() for failures in range(3, 30)]
    assert waits[:6] == [0, 0, 1, 2, 4, 8]
    assert waits == sorted(waits)
    assert waits[-1] == timedelta(minutes=15).total_seconds()


@pytest.mark.parametrize("address", ["0.0.0.0", "", "::", "192.168.1.5", "pricewatch.example"])
def test_public_addresses_are_refused_without_a_password(address: str) -> None:
    with pytest.raises(UserError, match="PRICEWATCH_PASSWORD"):
        check_address(address, Configuration())
    check_address(address, PASSWORD)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_loopback_addresses_need_no_password(address: str) -> None:
    check_address(address, Configuration())


def test_a_user_without_a_password_is_refused() -> None:
    with pytest.raises(UserError, match="both"):
        Configuration.from_environment({"PRICEWATCH_USER": "ada"})
