"""Every endpoint, page, form and service of a real daemon, called by somebody who wants to break it.

What there is to call is asked of the application itself, so that what is new is called too.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from parsel import Selector
from scrapy.utils.misc import load_object

from pricewatch.web.routes import page_routers
from tests.conftest import ROOT
from tests.databases import Database
from tests.hostile.calls import (
    CONTENT_TYPES,
    ODD_BODIES,
    Answer,
    as_form,
    as_parts,
    as_path,
    as_query,
    check,
    send,
    values,
    words,
)
from tests.scheduling.conftest import Cluster
from tests.web.stored import store_one_of_each

EVIL = '"><x-enemy onclick=alert(1)><script>alert(1)</script>'
BROWSER = {"Sec_Fetch_Site": "same-origin", "Cookie": "pricewatch_session=mine"}
# What would be right: with it, what is wrong with the rest is found.
RIGHT = {
    **dict.fromkeys(("listing_id", "run_id", "quarantine_id", "alert_id", "rule_id", "target_id"), "1"),
    **dict.fromkeys(("product_id", "priority", "limit", "threshold", "job", "version"), "1"),
    "market_id": "bazaar-bikes",
    "source_id": "bazaar",
    "adapter_id": "generic",
    "project": "test",
    "spider": "sweep",
    "kind": "sweep",
    "form": "json",
    "name": "style.css",
    "url": "https://10.0.0.1/x",
    "id": "new-one",
    "schedule": "0 6 * * *",
}
# On no page until something else was done.
MORE_FORMS = {
    "/targets/add": ["url", "schedule", "priority", "notes", "selector_price", "approve", "kind"],
    "/login": ["username", "password", "next"],
    "/logout": [],
    "/adapters/bazaar/disable": ["note", "terms", "source"],
    "/markets/bazaar-bikes/believe": [],
}
SERVICE_FIELDS = [
    *("project", "spider", "version", "_version", "job", "jobid", "priority", "setting", "signal", "egg"),
    *("limit", "offset", "_job", "settings", "name", "self", "spider_name", "market"),
]
UNHARMED = (
    "SELECT (SELECT count(*) FROM listings), (SELECT count(*) FROM price_history), count(*) FROM pg_tables"
)


class Target:
    """A daemon with one of everything in its database."""

    def __init__(self, port: int, database: Database) -> None:
        self.port, self.database = port, database
        self.api = self.ask("GET", "/api/openapi.json").json()
        page = self.ask("GET", "/markets", **BROWSER).body
        self.token = re.findall(rb'name="token" value="(\w+)"', page)[0].decode()

    def ask(self, method: str, target: str, body: bytes = b"", /, **headers: str) -> Answer:
        answer = send(self.port, method, target, body, **headers)
        check(answer, (method, target, body[:300], headers))
        return answer


@pytest.fixture(scope="module")
def target(make_cluster: Callable[[], Cluster], module_database: Database) -> Iterator[Target]:
    store_one_of_each(module_database, EVIL)
    module_database.do("UPDATE sources SET visibility = 'VISIBLE'")
    module_database.do("INSERT INTO adapter_status (adapter_id, enabled) VALUES ('generic', false)")
    daemon = make_cluster().start("besieged").wait()
    before = module_database.row(UNHARMED)
    yield Target(daemon.port, module_database)
    assert module_database.row(UNHARMED) == before
    assert daemon.wait().get("daemonstatus.json")["status"] == "ok"
    assert "Traceback" not in daemon.log.read_text()


def some(count: int) -> Callable[[Any], Any]:
    return settings(
        deadline=None,
        max_examples=count,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def given_values(draw: st.DrawFn, names: list[str], odd: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Most of them right or left out, and at least one of them odd."""
    wrong = draw(st.sets(st.sampled_from(names), min_size=1, max_size=3)) if names else set()
    kept = {name: RIGHT[name] for name in names if name in RIGHT and name not in wrong}
    return {**kept, **{name: draw(odd) for name in sorted(wrong)}}


def target_of(path: str, given: dict[str, Any], query: list[str], twice: bool) -> str:
    """The path with its parameters in it, and the query; each of which may be given twice."""
    parameter = re.compile(r"\{(\w+)(?::path)?\}")
    filled = parameter.sub(lambda name: as_path(given.get(name[1], RIGHT.get(name[1], "x"))), path)
    pairs = [(name, given[name]) for name in query if name in given] * (2 if twice else 1)
    return f"{filled}?{as_query(pairs)}" if pairs else filled


def fields_of(api: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    text = json.dumps(content.get("schema", {}))
    names = re.findall(r"#/components/schemas/(\w+)", text)
    return [field for name in names for field in api["components"]["schemas"][name].get("properties", {})]


def test_the_json_api(target: Target) -> None:
    tried = 0
    for path, methods in target.api["paths"].items():
        for method, operation in methods.items():
            _besiege_operation(target, path, method.upper(), operation)
            tried += 1
    assert tried > 30


def _besiege_operation(target: Target, path: str, method: str, operation: dict[str, Any]) -> None:
    parameters = [each["name"] for each in operation.get("parameters", ())]
    query = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    fields = fields_of(target.api, operation)
    bodies = given_values(fields, values()).map(lambda body: json.dumps(body).encode())

    @some(9)
    @given(
        given_values(parameters, words()),
        bodies | bodies | st.sampled_from(ODD_BODIES),
        st.sampled_from(["application/json", "application/json", *CONTENT_TYPES]),
        st.booleans(),
    )
    def call(named: dict[str, str], body: bytes, kind: str, twice: bool) -> None:
        sent = body if "requestBody" in operation else b""
        answer = target.ask(method, target_of(path, named, query, twice), sent, Content_Type=kind)
        assert (
            answer.status < 300
            or answer.kind == "application/problem+json"
            or is_no_http(answer)
            or is_slash_too_many(answer)
        ), answer

    call()


def is_no_http(answer: Answer) -> bool:
    """Twisted itself refuses a body that is not what its header says, before anybody looks at it."""
    return (answer.status, answer.body) == (400, b"")


def is_slash_too_many(answer: Answer) -> bool:
    """A path that ends with a slash leads to the same one without it."""
    leads_to = urlsplit(answer.headers.get("Location") or "")
    return answer.status == 307 and leads_to.netloc == "127.0.0.1" and leads_to.path.startswith("/api/")


def routes(method: str) -> list[APIRoute]:
    found = [route for router in page_routers() for route in router.routes if isinstance(route, APIRoute)]
    return [route for route in found if method in (route.methods or ())]


def test_the_pages(target: Target) -> None:
    for route in routes("GET"):
        query = [each.alias for each in route.dependant.query_params]
        names = [*(each.alias for each in route.dependant.path_params), *query]
        _besiege_page(target, route.path, names, query)


def _besiege_page(target: Target, path: str, names: list[str], query: list[str]) -> None:
    @some(6 if names else 1)
    @given(given_values(names, words()), st.booleans(), words())
    def look(named: dict[str, str], twice: bool, cookie: str) -> None:
        cookies = f"pricewatch_session=mine; pricewatch_flash={as_path(cookie)}"
        target.ask("GET", target_of(path, named, query, twice), Cookie=cookies)

    look()


def forms(target: Target) -> dict[str, list[tuple[str, str]]]:
    """What the forms on the pages would send as they stand there; of several that go to one place, one."""
    found = {path: [(name, RIGHT.get(name, "")) for name in names] for path, names in MORE_FORMS.items()}
    for route in routes("GET"):
        page = target.ask("GET", target_of(route.path, {}, [], False), **BROWSER)
        if page.kind == "text/html" and page.body:
            for form in Selector(body=page.body).css("form[method=post]"):
                fields = form.xpath(".//*[@name != 'token']")
                found[form.attrib["action"]] = [
                    (field.attrib["name"], field.attrib.get("value", "")) for field in fields
                ]
    return found


def test_the_forms(target: Target) -> None:
    found = forms(target)
    for route in routes("POST"):
        reached = [path for path in found if route.path_regex.match(path)]
        assert reached, f"no page sends {route.path}"
        _besiege_form(target, reached[0], found[reached[0]])


def _besiege_form(target: Target, path: str, pairs: list[tuple[str, str]]) -> None:
    last = path.rpartition("/")[2]

    @some(8)
    @given(
        given_values([name for name, _ in pairs], words()),
        st.sampled_from(["", "", "utf-8", "idna", "unicode_escape", "utf-7", "punycode", "hex", "no-such"]),
        st.none() | words(),
    )
    def fill(odd: dict[str, str], charset: str, place: str | None) -> None:
        sent = [(name, odd.get(name, value)) for name, value in pairs] + [("token", target.token)]
        body, kind = as_form(sent), "application/x-www-form-urlencoded"
        if charset:
            body, kind = as_parts(sent, charset), "multipart/form-data; boundary=x"
        # Sometimes to something that is not there at all.
        where = path if place is None else path.removesuffix(last) + as_path(place)
        target.ask("POST", where, body, Content_Type=kind, **BROWSER)

    fill()


def test_scrapyds_own_services(target: Target) -> None:
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    for service, implementation in configuration["services"].items():
        method = "POST" if hasattr(load_object(implementation), "render_POST") else "GET"
        _besiege_service(target, f"/{service}", method)
    assert target.database.value("SELECT count(*) FROM jobs") > 0
    assert target.database.rows("SELECT priority FROM jobs WHERE NOT abs(priority) < 1e300") == []


def _besiege_service(target: Target, path: str, right: str) -> None:
    @some(15)
    @given(
        given_values(SERVICE_FIELDS, words() | st.just("quick")),
        st.sampled_from([right] * 4 + ["GET", "POST", "OPTIONS"]),
        st.booleans(),
    )
    def call(fields: dict[str, str], method: str, twice: bool) -> None:
        pairs = list({"project": "test", "spider": "quick", **fields}.items()) * (2 if twice else 1)
        if method == "POST":
            form = {"Content_Type": "application/x-www-form-urlencoded"}
            answer = target.ask("POST", path, as_form(pairs), **form)
        else:
            answer = target.ask(method, f"{path}?{as_query(pairs)}")
        assert answer.status in (200, 204), (answer, fields)

    call()


@pytest.mark.parametrize(
    ("project", "version"),
    [
        *((project, "1") for project in ("../../evil", "/etc/evil", "a" * 300, "", "<script>", ".", "a b")),
        *(
            ("test", version)
            for version in ("", "../../evil", "'; DROP TABLE eggs; --", "\u202e1", "a" * 5000)
        ),
    ],
)
def test_eggs_of_any_name_stay_in_their_place(target: Target, project: str, version: str) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as egg:
        egg.writestr("../../evil", b"")
    named = as_parts([("project", project), ("version", version), ("egg", "EGG")], "utf-8")
    body = named.replace(b"EGG", packed.getvalue())
    answer = target.ask("POST", "/addversion.json", body, Content_Type="multipart/form-data; boundary=x")
    assert answer.json()["status"] in ("ok", "error")
    stored = {name for (name,) in target.database.rows("SELECT project FROM eggs")}
    assert stored <= {"test"}
