"""Every form and every endpoint that changes something leaves a row in the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from pricewatch.store.source_registry import price_places
from pricewatch.web.route_roles import ROUTE_ROLES
from tests.databases import Database
from tests.services.held_pages import hold_page
from tests.web.conftest import Browser
from tests.web.stored import store_one_of_each

NEW_TARGET = "https://shop.example/p/{}"
CHOICE = {"number": 1, "availability": "IN_STOCK"}
PERSON = {"role": "read", "password": "a violet bicycle"}
# The path and the fields of each form.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "/adapters/{adapter_id:path}/disable": ("/adapters/bazaar/disable", {"note": "x"}),
    "/adapters/{adapter_id:path}/enable": ("/adapters/bazaar/enable", {"note": "x"}),
    "/alerts/{alert_id}/resolve": ("/alerts/1/resolve", {}),
    "/account/sessions/end-others": ("/account/sessions/end-others", {}),
    "/logout": ("/logout", {}),
    "/markets/add": ("/markets/add", {"id": "m1", "source_id": "bazaar", "start_pages": "/c/toys"}),
    "/markets/{market_id}": ("/markets/bazaar-bikes", {"tier": "cool"}),
    "/markets/{market_id}/believe": ("/markets/bazaar-bikes/believe", {}),
    "/markets/{market_id}/scrape": ("/markets/bazaar-bikes/scrape", {}),
    "/people": ("/people", {"name": "carol", **PERSON}),
    "/people/{name}/enabled": ("/people/eve/enabled", {"enabled": "no"}),
    "/people/{name}/password": ("/people/eve/password", {"password": "a violet bicycle"}),
    "/people/{name}/role": ("/people/eve/role", {"role": "admin"}),
    "/people/{name}/remove": ("/people/eve/remove", {}),
    "/proxies/unblock": ("/proxies/unblock", {"domain": "bazaar.example", "proxy": "Bike"}),
    "/quarantine": ("/quarantine", {"id": 1, "action": "reject"}),
    "/quarantine/{quarantine_id}/choose": ("/quarantine/2/choose", CHOICE),
    "/sources/{source_id}/approve": ("/sources/apartments/approve", {"read": "on"}),
    "/sources/{source_id}/forget-price-place": ("/sources/bazaar/forget-price-place", {}),
    "/sources/{source_id}/render": ("/sources/bazaar/render", {"render": "never"}),
    "/sources/{source_id}/visibility": ("/sources/bazaar/visibility", {"visibility": "HIDDEN"}),
    "/targets": ("/targets", {"id": 1, "action": "pause"}),
    "/targets/add": ("/targets/add", {"url": NEW_TARGET.format(7), "schedule": "0 6 * * *"}),
    "/targets/import": ("/targets/import", {"pasted": NEW_TARGET.format(8), "action": "import"}),
    "/tokens": ("/tokens", {"name": "one", "role": "read"}),
    "/tokens/{token_id}/revoke": ("/tokens/1/revoke", {}),
    "/quarantine/strict-review": (
        "/quarantine/strict-review",
        {"kind": "source", "subject": "bazaar", "percent": "20"},
    ),
    "/watch": ("/watch", {"listing_id": 1, "kind": "gone"}),
    "/watch/{rule_id}": ("/watch/1", {"kind": "sold"}),
    "/watch/{rule_id}/pause": ("/watch/1/pause", {}),
    "/watch/{rule_id}/resume": ("/watch/1/resume", {}),
    "/watch/{rule_id}/remove": ("/watch/1/remove", {}),
}
# Tested with the sessions that they need, or nothing is changed.
OTHER_FORMS = {"/login", "/account/password", "/account/sessions/{session_id}/end", "/targets/preview"}
NOTE = {"note": "x"}
# The method, the path and the body of each endpoint.
CALLS: dict[str, tuple[str, Any]] = {
    "POST /api/adapters/{adapter_id:path}/disable": ("/api/adapters/bazaar/disable", NOTE),
    "POST /api/adapters/{adapter_id:path}/enable": ("/api/adapters/bazaar/enable", NOTE),
    "POST /api/admin/markets": (
        "/api/admin/markets",
        {"id": "m2", "source_id": "bazaar", "start_pages": ["/c/toys"]},
    ),
    "PUT /api/admin/markets/{market_id}": ("/api/admin/markets/bazaar-bikes", {"tier": "cool"}),
    "POST /api/admin/markets/{market_id}/believe": ("/api/admin/markets/bazaar-bikes/believe", None),
    "POST /api/admin/markets/{market_id}/scrape": ("/api/admin/markets/bazaar-bikes/scrape", None),
    "POST /api/alerts/{alert_id}/resolve": ("/api/alerts/1/resolve", None),
    "POST /api/crawl/execute": ("/api/crawl/execute", {}),
    "POST /api/people": ("/api/people", {"name": "carol", **PERSON}),
    "POST /api/people/{name}/password": ("/api/people/eve/password", {"password": "a violet bicycle"}),
    "PUT /api/people/{name}": ("/api/people/eve", {"role": "admin"}),
    "DELETE /api/people/{name}": ("/api/people/eve", None),
    "POST /api/quarantine/{quarantine_id}/reject": ("/api/quarantine/1/reject", NOTE),
    "POST /api/quarantine/{quarantine_id}/accept": ("/api/quarantine/1/accept", NOTE),
    "POST /api/quarantine/{quarantine_id}/choose": ("/api/quarantine/2/choose", CHOICE),
    "POST /api/quarantine/{quarantine_id}/replay": ("/api/quarantine/2/replay", {"apply": True}),
    "POST /api/sources/{source_id}/render": ("/api/sources/bazaar/render", {"render": "never"}),
    "DELETE /api/sources/{source_id}/price-place": ("/api/sources/bazaar/price-place", None),
    "POST /api/targets": ("/api/targets", {"url": NEW_TARGET.format(9)}),
    "POST /api/targets/{target_id}/pause": ("/api/targets/1/pause", None),
    "POST /api/targets/{target_id}/resume": ("/api/targets/1/resume", None),
    "POST /api/targets/{target_id}/render": ("/api/targets/1/render", {"render": "never"}),
    "DELETE /api/targets/{target_id}": ("/api/targets/1", None),
    "POST /api/tokens": ("/api/tokens", {"name": "one", "role": "read"}),
    "DELETE /api/tokens/{token_id}": ("/api/tokens/1", None),
    "POST /api/watch-rules": ("/api/watch-rules", {"kind": "gone", "listing_id": 1}),
    "PUT /api/strict-reviews": (
        "/api/strict-reviews",
        {"kind": "source", "subject": "bazaar", "percent": 20},
    ),
    "PUT /api/watch-rules/{rule_id}": ("/api/watch-rules/1", {"kind": "sold"}),
    "DELETE /api/watch-rules/{rule_id}": ("/api/watch-rules/1", None),
}
CHANGING = {name for name in ROUTE_ROLES if not name.startswith("GET ")}


@pytest.fixture
def one_of_each(database: Database) -> Database:
    store_one_of_each(database, "Bike")
    hold_page(database)
    database.do("UPDATE markets SET sweep_last_complete_seen = 150, sweep_last_partial_seen = 60")
    database.call(price_places.remember, "bazaar", "p.price", by="Ada", now=datetime.now(UTC))
    return database


def entries(database: Database) -> int:
    return int(database.value("SELECT count(*) FROM audit"))


def test_every_changing_route_is_listed_here() -> None:
    forms = {f"POST {path}" for path in {*FORMS, *OTHER_FORMS}}
    assert forms | set(CALLS) == CHANGING


def test_every_form_leaves_an_entry(browser: Browser, one_of_each: Database) -> None:
    for path, fields in FORMS.values():
        before = entries(one_of_each)
        answer = browser.post(path, **fields)
        assert answer.status_code in (200, 303), (path, answer.text[-700:])
        assert entries(one_of_each) > before, path
    assert one_of_each.rows("SELECT DISTINCT address FROM audit WHERE person = 'local'") == [("127.0.0.1",)]


def test_every_endpoint_leaves_an_entry(client: httpx.Client, one_of_each: Database) -> None:
    for name, (path, body) in CALLS.items():
        before = entries(one_of_each)
        answer = client.request(name.split()[0], path, json=body)
        assert answer.is_success, (path, answer.text)
        assert entries(one_of_each) > before, path


def test_a_refused_change_leaves_no_entry(client: httpx.Client, database: Database) -> None:
    before = entries(database)
    assert client.put("/api/admin/markets/nothing", json={"tier": "cool"}).status_code == 404
    assert client.delete("/api/people/nobody").status_code == 404
    assert client.post("/api/tokens", json={"name": " ", "role": "read"}).status_code == 400
    assert entries(database) == before
