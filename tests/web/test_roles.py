"""Which role may do what: every route declares its role, and is called with every role."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from pricewatch.vocabulary import AccessRole
from pricewatch.web import prometheus
from pricewatch.web.api import api_routers
from pricewatch.web.app import create_app
from pricewatch.web.auth import COOKIE, form_token
from pricewatch.web.route_roles import ROUTE_ROLES
from pricewatch.web.routes import page_routers
from tests.databases import Database
from tests.web.accounts import add_person, bearer, log_in, make_token
from tests.web.conftest import BROWSER, PASSWORD, Browser, client_of
from tests.web.stored import store_one_of_each
from tests.web.test_every_page import visible_text

OPENAPI = "GET /api/openapi.json"
SESSION = "mine"


def declared(routers: list[APIRouter]) -> list[str]:
    routes = [route for router in routers for route in router.routes]
    pages = [route for route in routes if isinstance(route, APIRoute)]
    return [f"{method} {route.path}" for route in pages for method in route.methods or ()]


ROUTES = declared([*page_routers(), *api_routers(), prometheus.router])


def test_every_route_declares_its_role() -> None:
    assert sorted(ROUTES) == sorted(set(ROUTE_ROLES) - {OPENAPI})


def test_every_served_route_is_one_of_these(database: Database) -> None:
    """The application has no route besides those of the routers and the schema."""
    served: list[str] = []
    remaining: list[Any] = list(create_app(PASSWORD).router.routes)
    while remaining:
        route = remaining.pop()
        if nested := getattr(route, "original_router", None):
            remaining += nested.routes
        else:
            served += [f"{method} {route.path}" for method in route.methods - {"HEAD"}]
    assert sorted(served) == sorted([*ROUTES, OPENAPI])


def test_a_route_without_a_role_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ROUTE_ROLES, "GET /listings")
    with client_of() as client:
        answer = client.get("/listings")
        assert (answer.status_code, "No role is declared" in answer.text) == (403, True)


def filled(path: str) -> str:
    return re.sub(r"{\w+(:path)?}", "999999", path.replace("{form}", "json"))


@pytest.mark.slow
@pytest.mark.parametrize("role", [None, *AccessRole])
def test_every_route_with_every_role(database: Database, role: AccessRole | None) -> None:
    headers = {"Cookie": f"{COOKIE}={SESSION}"}
    if role is not None:
        headers |= bearer(make_token(database, role))
    with client_of(PASSWORD, headers=headers) as client:
        for name, needed in ROUTE_ROLES.items():
            method, path = name.split()
            data = {"token": form_token(SESSION)} if "/api/" not in path and method == "POST" else None
            answer = client.request(method, filled(path), data=data)
            if needed is None:
                assert answer.status_code in (200, 401, 404), name
            elif role is None:
                is_page = "/api/" not in path and path != "/metrics"
                assert answer.status_code == (303 if is_page else 401), name
                assert not is_page or answer.headers["location"].startswith("/login"), name
            elif not role.includes(needed):
                assert answer.status_code == 403, name
                assert f"This needs the role {needed}: token a {role} program has the role {role}." in (
                    visible(answer)
                ), name
            else:
                assert answer.status_code not in (401, 403, 500), (name, answer.text[:300])


def visible(answer: httpx.Response) -> str:
    return re.sub(r"<[^>]+>", " ", answer.text)


def test_tokens_work_as_bearer_and_as_the_password_of_basic_authentication(database: Database) -> None:
    token = make_token(database, AccessRole.OPERATE, "deployer")
    with client_of(PASSWORD) as client:
        for options in ({"headers": bearer(token)}, {"auth": ("", token)}, {"auth": ("anybody", token)}):
            assert client.get("/metrics", **options).status_code == 200
        answer = client.post("/api/crawl/execute", json={}, headers=bearer(token))
        assert answer.status_code == 202
        assert client.get("/metrics", headers=bearer(token + "x")).status_code == 401
        assert client.get("/metrics", auth=("ada", token[:-1])).status_code == 401
        # A token is not a password for the login page.
        assert log_in(client, "deployer", token).status_code == 401
    assert database.value("SELECT person FROM audit WHERE action = 'crawl'") == "token deployer"


def test_a_source_is_approved_by_administrators_only(database: Database) -> None:
    add_person(database, "olga", AccessRole.OPERATE)
    with client_of(PASSWORD) as client:
        log_in(client, "olga")
        market = {"id": "m1", "source_id": "apartments", "tier": "hot", "city": "Boston", "state": "MA"}
        answer = Browser(client).post("/markets/add", **market, approve="on")
        assert (answer.status_code, "needs the role admin" in answer.text) == (403, True)
        assert database.value("SELECT count(*) FROM markets WHERE id = 'm1'") == 0
        assert 'name="approve"' not in client.get("/markets/add?source=apartments").text
        assert Browser(client).post("/markets/add", **market).status_code == 303


# Pages, and texts of controls on them with the role that they need.
CONTROLS = {
    "/": {"Add a URL": AccessRole.OPERATE},
    "/markets": {
        "Scrape now": AccessRole.OPERATE,
        "Add a market": AccessRole.OPERATE,
        "/visibility": AccessRole.ADMIN,
    },
    "/targets": {'value="pause"': AccessRole.OPERATE, "Import CSV": AccessRole.OPERATE},
    "/quarantine": {'value="accept"': AccessRole.OPERATE},
    "/quarantine/1": {'value="accept"': AccessRole.OPERATE},
    "/alerts": {"Resolve</button>": AccessRole.OPERATE},
    "/watch": {"Remove</button>": AccessRole.OPERATE},
    "/listings/1": {"Notify me": AccessRole.OPERATE},
    "/products/1": {"Notify me": AccessRole.OPERATE},
    "/adapters/bazaar": {"for every source": AccessRole.ADMIN, "/render": AccessRole.ADMIN},
    "/proxies": {"Unblock": AccessRole.ADMIN},
    "/runbooks": {
        'href="/people"': AccessRole.ADMIN,
        'href="/tokens"': AccessRole.ADMIN,
        'href="/audit"': AccessRole.ADMIN,
    },
}


def test_pages_show_only_what_the_role_may_do(database: Database) -> None:
    store_one_of_each(database, "Bike")
    for role in AccessRole:
        with client_of(PASSWORD, headers=bearer(make_token(database, role))) as client:
            for page, controls in CONTROLS.items():
                text = client.get(page).text
                for control, needed in controls.items():
                    assert (control in text) is role.includes(needed), (page, control, role)
                if role is AccessRole.READ:
                    assert "<button" not in changing_forms(text), page


def changing_forms(page: str) -> str:
    """The forms of a page that change something, without the one in the header for logging out."""
    content = page.split("</header>", 1)[1]
    return "".join(re.findall(r'<form[^>]*method="post".*?</form>', content, re.DOTALL))


def test_the_refusal_page_says_which_role_is_needed(database: Database) -> None:
    add_person(database, "rita", AccessRole.READ)
    with client_of(PASSWORD) as client:
        log_in(client, "rita")
        answer = client.get("/people", headers=BROWSER)
        assert answer.status_code == 403
        assert "This needs the role admin: rita has the role read. Ask an administrator." in visible_text(
            client, "/people"
        )
        problem = client.get("/api/tokens").json()
        assert problem["detail"] == "This needs the role admin: rita has the role read. Ask an administrator."


def test_the_schema_declares_bearer_and_basic_authentication(client: httpx.Client) -> None:
    schema = client.get("/api/openapi.json").json()
    schemes = schema["components"]["securitySchemes"]
    assert {scheme["scheme"] for scheme in schemes.values()} == {"bearer", "basic"}
    assert [*schema["security"][0], *schema["security"][1]] == ["bearer", "basic"]
