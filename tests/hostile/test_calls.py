"""Hostile requests to every endpoint, page, form and service of a real daemon.

The list of addresses comes from the application itself, so that new ones are tested too.
"""

from __future__ import annotations

import json
import re
import socket
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from parsel import Selector

from tests.databases import Database
from tests.hostile.addresses import VALID, filled_path, routes, service_methods
from tests.hostile.calls import (
    CONTENT_TYPES,
    ODD_BODIES,
    Answer,
    as_form,
    as_parts,
    as_path,
    as_query,
    check,
    odd_texts,
    odd_values,
    send,
)
from tests.scheduling.conftest import Cluster
from tests.web.stored import ACCOUNT_FORMS, store_one_of_each

HOSTILE_HTML = '"><x-enemy onclick=alert(1)><script>alert(1)</script>'
BROWSER = {"Sec_Fetch_Site": "same-origin", "Cookie": "pricewatch_session=mine"}
# Forms that are on no page of a fresh database.
NO_FIELDS = (
    "/logout",
    "/markets/bazaar-bikes/believe",
    "/sources/bazaar/forget-price-place",
    "/watch/1/resume",
)
MORE_FORMS: dict[str, list[str]] = {
    **{path: [] for path in NO_FIELDS},
    "/targets/add": ["url", "schedule", "priority", "notes", "render", "selector_price", "approve", "kind"],
    **ACCOUNT_FORMS,
    "/adapters/bazaar/disable": ["note", "terms", "source"],
    "/quarantine/1/choose": ["number", "expected_1", "currency", "availability", "for_site"],
    "/sources/bazaar/render": ["render"],
}
# A job that is accepted, unless one of the odd values is among its fields.
VALID_JOB = {"project": "test", "spider": "quick", "job": "1", "priority": "1", "setting": "LOG_LEVEL=INFO"}
SERVICE_FIELDS = [
    *VALID_JOB,
    *("version", "_version", "jobid", "signal", "egg"),
    *("limit", "offset", "_job", "settings", "name", "self", "spider_name", "market"),
]
FORM = {"Content_Type": "application/x-www-form-urlencoded"}
ROW_COUNTS = (
    "SELECT (SELECT count(*) FROM listings), (SELECT count(*) FROM price_history), count(*) FROM pg_tables"
)


class Target:
    """A daemon whose database has one of everything."""

    def __init__(self, port: int, database: Database) -> None:
        self.port, self.database = port, database
        self.api = self.request("GET", "/api/openapi.json").json()
        page = self.request("GET", "/markets", **BROWSER).body
        self.token = re.findall(rb'name="token" value="(\w+)"', page)[0].decode()

    def request(self, method: str, target: str, body: bytes = b"", /, **headers: str) -> Answer:
        answer = send(self.port, method, target, body, **headers)
        check(answer, (method, target, body[:300], headers))
        return answer


@pytest.fixture(scope="module")
def target(make_cluster: Callable[[], Cluster], module_database: Database) -> Iterator[Target]:
    store_one_of_each(module_database, HOSTILE_HTML)
    module_database.do("UPDATE sources SET visibility = 'VISIBLE'")
    module_database.do("INSERT INTO adapter_status (adapter_id, enabled) VALUES ('generic', false)")
    daemon = make_cluster().start("attacked").wait()
    before = module_database.row(ROW_COUNTS)
    yield Target(daemon.port, module_database)
    assert module_database.row(ROW_COUNTS) == before
    assert daemon.wait().get("daemonstatus.json")["status"] == "ok"
    assert "Traceback" not in daemon.log.read_text()


def examples(count: int) -> Callable[[Any], Any]:
    return settings(
        deadline=None,
        max_examples=count,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def mixed_values(
    draw: st.DrawFn, names: list[str], odd: st.SearchStrategy[Any], valid: dict[str, str] = VALID
) -> dict[str, Any]:
    """One to three odd values; the others are valid or left out."""
    wrong = draw(st.sets(st.sampled_from(names), min_size=1, max_size=3)) if names else set()
    kept = {name: valid[name] for name in names if name in valid and name not in wrong}
    return {**kept, **{name: draw(odd) for name in sorted(wrong)}}


def fields_of(api: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    text = json.dumps(content.get("schema", {}))
    names = re.findall(r"#/components/schemas/(\w+)", text)
    return [field for name in names for field in api["components"]["schemas"][name].get("properties", {})]


@pytest.mark.proof
def test_the_json_api_survives_hostile_requests(target: Target) -> None:
    tried = 0
    for path, methods in target.api["paths"].items():
        for method, operation in methods.items():
            _attack_operation(target, path, method.upper(), operation)
            tried += 1
    assert tried > 30


def _attack_operation(target: Target, path: str, method: str, operation: dict[str, Any]) -> None:
    parameters = [each["name"] for each in operation.get("parameters", ())]
    query = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    fields = fields_of(target.api, operation)
    bodies = mixed_values(fields, odd_values()).map(lambda body: json.dumps(body).encode())

    @examples(9)
    @given(
        mixed_values(parameters, odd_texts()),
        bodies | bodies | st.sampled_from(ODD_BODIES),
        st.sampled_from(["application/json", "application/json", *CONTENT_TYPES]),
        st.booleans(),
    )
    def call(named: dict[str, str], body: bytes, kind: str, twice: bool) -> None:
        sent = body if "requestBody" in operation else b""
        answer = target.request(method, filled_path(path, named, query, twice), sent, Content_Type=kind)
        assert (
            answer.status < 300 or answer.kind == "application/problem+json" or is_slash_redirect(answer)
        ), answer

    call()


def is_slash_redirect(answer: Answer) -> bool:
    """A path with a trailing slash redirects to the path without it."""
    location = urlsplit(answer.headers.get("Location") or "")
    return answer.status == 307 and location.netloc == "127.0.0.1" and location.path.startswith("/api/")


def test_the_pages_survive_hostile_requests(target: Target) -> None:
    for route in routes("GET"):
        query = [each.alias for each in route.dependant.query_params]
        names = [*(each.alias for each in route.dependant.path_params), *query]
        _attack_page(target, route.path, names, query)


def _attack_page(target: Target, path: str, names: list[str], query: list[str]) -> None:
    @examples(6 if names else 1)
    @given(mixed_values(names, odd_texts()), st.booleans(), odd_texts())
    def call(named: dict[str, str], twice: bool, cookie: str) -> None:
        cookies = f"pricewatch_session=mine; pricewatch_flash={as_path(cookie)}"
        target.request("GET", filled_path(path, named, query, twice), Cookie=cookies)

    call()


def forms(target: Target) -> dict[str, list[tuple[str, str]]]:
    """The fields of every form on the pages, by its address; one form for each address."""
    found = {path: [(name, VALID.get(name, "")) for name in names] for path, names in MORE_FORMS.items()}
    for route in routes("GET"):
        page = target.request("GET", filled_path(route.path, {}, [], False), **BROWSER)
        if page.kind == "text/html" and page.body:
            for form in Selector(body=page.body).css("form[method=post]"):
                fields = form.xpath(".//*[@name != 'token']")
                found[form.attrib["action"]] = [
                    (field.attrib["name"], field.attrib.get("value", "")) for field in fields
                ]
    return found


@pytest.mark.proof
def test_the_forms_survive_hostile_requests(target: Target) -> None:
    found = forms(target)
    for route in routes("POST"):
        matching = [path for path in found if route.path_regex.match(path)]
        assert matching, f"no page has a form for {route.path}"
        _attack_form(target, matching[0], found[matching[0]])


def _attack_form(target: Target, path: str, pairs: list[tuple[str, str]]) -> None:
    last = path.rpartition("/")[2]

    @examples(8)
    @given(
        mixed_values([name for name, _ in pairs], odd_texts()),
        st.sampled_from(["", "", "utf-8", "idna", "unicode_escape", "utf-7", "punycode", "hex", "no-such"]),
        st.none() | odd_texts(),
    )
    def submit(odd: dict[str, str], charset: str, last_part: str | None) -> None:
        sent = [(name, odd.get(name, value)) for name, value in pairs] + [("token", target.token)]
        body, kind = as_form(sent), "application/x-www-form-urlencoded"
        if charset:
            body, kind = as_parts(sent, charset), "multipart/form-data; boundary=x"
        # Sometimes to an address that does not exist.
        address = path if last_part is None else path.removesuffix(last) + as_path(last_part)
        target.request("POST", address, body, Content_Type=kind, **BROWSER)

    submit()


def test_scrapyds_services_survive_hostile_requests(target: Target) -> None:
    for path, method in service_methods().items():
        _attack_service(target, path, method)
    # The daemon still takes work.
    scheduled = target.request("POST", "/schedule.json", as_form(list(VALID_JOB.items())), **FORM).json()
    assert scheduled["status"] == "ok", scheduled
    assert target.database.value("SELECT count(*) FROM jobs") > 0
    assert target.database.rows("SELECT priority FROM jobs WHERE NOT abs(priority) < 1e300") == []


def _attack_service(target: Target, path: str, allowed_method: str) -> None:
    @examples(15)
    @given(
        mixed_values(SERVICE_FIELDS, odd_texts(), VALID_JOB),
        st.sampled_from([allowed_method] * 4 + ["GET", "POST", "OPTIONS"]),
        st.booleans(),
    )
    def call(fields: dict[str, str], method: str, twice: bool) -> None:
        pairs = list(fields.items()) * (2 if twice else 1)
        if method == "POST":
            answer = target.request("POST", path, as_form(pairs), **FORM)
        else:
            answer = target.request(method, f"{path}?{as_query(pairs)}")
        assert answer.status in (200, 204), (answer, fields)

    call()


def test_an_empty_job_id_is_replaced_everywhere(target: Target) -> None:
    form = as_form([*VALID_JOB.items(), ("jobid", "")])
    job = target.request("POST", "/schedule.json", form, **FORM).json()["jobid"]
    assert target.database.value("SELECT count(*) FROM jobs WHERE job_id = :job", job=job) == 1
    audited = "SELECT subject FROM audit WHERE action = 'job scheduled' ORDER BY id DESC LIMIT 1"
    assert target.database.value(audited) == job


def test_a_form_has_a_limited_number_of_fields(target: Target) -> None:
    form = as_form([*VALID_JOB.items(), *((f"a{number}", "1") for number in range(1_000))])
    answer = target.request("POST", "/schedule.json", form, **FORM)
    assert (answer.status, answer.body) == (400, b"The form has more than 1000 fields.\n")


def test_clients_that_leave_at_once_cause_no_traceback(target: Target) -> None:
    """The fixture looks at the log of the daemon."""
    for path in ("/daemonstatus.json", "/jobs", "/listings", "/api/listings") * 5:
        with socket.create_connection(("127.0.0.1", target.port), 30) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert target.request("GET", "/daemonstatus.json").status == 200


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
def test_egg_names_cannot_leave_their_directory(target: Target, project: str, version: str) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as egg:
        egg.writestr("../../evil", b"")
    named = as_parts([("project", project), ("version", version), ("egg", "EGG")], "utf-8")
    body = named.replace(b"EGG", packed.getvalue())
    answer = target.request("POST", "/addversion.json", body, Content_Type="multipart/form-data; boundary=x")
    assert answer.json()["status"] in ("ok", "error")
    stored = {name for (name,) in target.database.rows("SELECT project FROM eggs")}
    assert stored <= {"test"}
