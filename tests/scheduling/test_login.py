"""One login protects both the web interface and scrapyd's API, tested with a real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from configparser import ConfigParser
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import httpx
import pytest

from pricewatch.scheduling.service_access import SERVICE_ROLES
from pricewatch.vocabulary import AccessRole
from tests.conftest import ROOT
from tests.databases import Database
from tests.rules.access.test_job_settings import CODE_PATHS_AND_ADDRESSES
from tests.scheduling.daemons import FAKE_SPIDERS, Daemon
from tests.scheduling.fake_runner import BROKEN_PROJECT
from tests.waiting import until
from tests.web.accounts import bearer, make_token

ADA = ("ada", "50% secret")
BROWSER = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def daemon_url(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("locked")
    environment = {
        "DATABASE_URL": module_database.url,
        "PRICEWATCH_VAR": str(directory / "var"),
        "PRICEWATCH_USER": ADA[0],
        "PRICEWATCH_PASSWORD": ADA[1],
    }
    daemon = Daemon(directory, "locked", environment, **FAKE_SPIDERS)

    def answers() -> bool:
        assert daemon.process.poll() is None, daemon.log.read_text()
        try:
            return httpx.get(f"{daemon.url}/login").status_code == 200
        except httpx.TransportError:
            return False

    until(answers)
    yield daemon.url
    daemon.abandon()


@pytest.fixture
def client(daemon_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=daemon_url, timeout=60) as client:
        yield client


@pytest.mark.slow
def test_the_web_interface_and_scrapyds_api_share_one_login(client: httpx.Client) -> None:
    """Programs use basic authentication, people the login page."""
    for path in ("/daemonstatus.json", "/listprojects.json", "/jobs", "/scrapyd/", "/api/listings"):
        refused = client.get(path)
        assert (refused.status_code, "www-authenticate" in refused.headers) == (401, True), path
        assert client.get(path, auth=(ADA[0], "wrong")).status_code == 401
        assert client.get(path, auth=ADA).status_code == 200, path
    assert client.post("/schedule.json", data={"project": "test", "spider": "quick"}).status_code == 401
    assert client.get("/", headers={**BROWSER, "Accept": "text/html"}).headers["location"] == "/login"
    redirected = client.get("/scrapyd/", headers=BROWSER)
    assert redirected.headers["location"].endswith("/login?next=/scrapyd/")
    form = {"username": ADA[0], "password": ADA[1], "next": "/scrapyd/"}
    logged_in = client.post("/login", data=form, headers=BROWSER)
    assert (logged_in.status_code, logged_in.headers["location"]) == (303, "/scrapyd/")
    assert client.get("/scrapyd/", headers=BROWSER).status_code == 200
    assert client.get("/daemonstatus.json", headers=BROWSER).json()["status"] == "ok"
    # Another site's page cannot use this browser's session.
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}
    assert (
        client.post("/cancel.json", data={"project": "test", "job": "1"}, headers=foreign).status_code == 403
    )


JOB = {"project": "test", "spider": "quick", "jobid": "a job"}
# What each service needs, and the action in the audit log if it changes something.
SERVICES: dict[str, tuple[str, dict[str, str], str]] = {
    "listprojects.json": ("GET", {}, ""),
    "listversions.json": ("GET", {"project": "test"}, ""),
    "listspiders.json": ("GET", {"project": "test"}, ""),
    "listjobs.json": ("GET", {}, ""),
    "daemonstatus.json": ("GET", {}, ""),
    "status.json": ("GET", {"job": "x"}, ""),
    "jobs": ("GET", {}, ""),
    "scrapyd/": ("GET", {}, ""),
    "scrapyd/jobs": ("GET", {}, ""),
    "logs/": ("GET", {}, ""),
    "schedule.json": ("POST", JOB, "job scheduled"),
    "cancel.json": ("POST", {"project": "test", "job": "a job"}, "job cancelled"),
    "addversion.json": ("POST", {"project": "mine", "version": "r1"}, "version deployed"),
    "delversion.json": ("POST", {"project": "mine", "version": "r1"}, "version deleted"),
    "delproject.json": ("POST", {"project": "mine"}, "project deleted"),
}
# Directories that only exist if they are configured.
OPTIONAL = {"items"}


def test_every_service_has_a_role() -> None:
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    tested = {path.split("/")[0] for path in SERVICES}
    assert {name.decode() for name in SERVICE_ROLES} == tested | OPTIONAL
    assert set(configuration["services"]) <= tested


def call(client: httpx.Client, path: str, headers: dict[str, str]) -> httpx.Response:
    method, fields, _ = SERVICES[path]
    if method == "GET":
        return client.get(f"/{path}", params=fields, headers=headers)
    files = {"egg": ("x.egg", packed_egg())} if path == "addversion.json" else None
    return client.post(f"/{path}", data=fields, files=files, headers=headers)


def packed_egg() -> bytes:
    egg = BytesIO()
    with ZipFile(egg, "w") as archive:
        archive.writestr("EGG-INFO/PKG-INFO", "Metadata-Version: 1.0\n")
    return egg.getvalue()


@pytest.mark.slow
def test_services_need_their_roles_and_leave_entries(client: httpx.Client, module_database: Database) -> None:
    tokens = {role: make_token(module_database, role) for role in AccessRole}
    for path in SERVICES:
        assert call(client, path, {}).status_code == 401, path
        needed = SERVICE_ROLES[path.split("/")[0].encode()]
        for role in AccessRole:
            if not role.includes(needed):
                refused = call(client, path, bearer(tokens[role]))
                assert refused.status_code == 403, (path, role)
                assert f"This needs the role {needed}: token a {role} program" in refused.text
    entries = "SELECT action, person, address, details FROM audit WHERE person LIKE 'token %' ORDER BY id"
    assert module_database.rows(entries) == []
    for path, (_, fields, action) in SERVICES.items():
        role = SERVICE_ROLES[path.split("/")[0].encode()]
        if path == "delproject.json":
            call(client, "addversion.json", bearer(tokens[AccessRole.ADMIN]))
        allowed = call(client, path, bearer(tokens[role]))
        assert allowed.status_code == 200, path
        if action:
            assert allowed.json()["status"] == "ok", allowed.text
            entry = module_database.rows(entries)[-1]
            assert entry[:3] == (action, f"token a {role} program", "127.0.0.1")
            known = {name: fields[name] for name in ("spider", "version") if name in fields}
            assert known.items() <= entry.details.items()
    # As the password of basic authentication, which scrapyd's clients send.
    assert client.get("/listprojects.json", auth=("", tokens[AccessRole.READ])).status_code == 200


def schedule(client: httpx.Client, job: str, *settings: str, **login: Any) -> Any:
    fields = {"project": "test", "spider": "quick", "jobid": job, "market": "bikes" * 50, "setting": settings}
    return client.post("/schedule.json", data=fields, **login).json()


@pytest.mark.slow
def test_settings_that_run_code_need_an_administrator(
    client: httpx.Client, module_database: Database
) -> None:
    operator = bearer(make_token(module_database, AccessRole.OPERATE, "a scheduler"))
    for name, value in {**CODE_PATHS_AND_ADDRESSES, "LOG_LEVEL": "a.b.C/x"}.items():
        answer = schedule(client, f"refused {name}", "STATS_DUMP=1", f"{name}={value}", headers=operator)
        assert answer["status"] == "error", name
        expected = f"the setting {name!r} needs the role admin; the role operate may give a number or a word"
        assert answer["message"].startswith(expected)
        assert "SWEEP_MAX_DETAILS" in answer["message"]
    # A setting without a name does not hide the others.
    answer = schedule(client, "refused", "=x", "FEEDS={}", headers=operator)
    assert answer["message"].startswith("the setting '' needs the role admin")
    assert module_database.rows("SELECT job_id FROM jobs WHERE job_id LIKE 'refused%'") == []
    plain = ("LOG_LEVEL=DEBUG", "SWEEP_MAX_DETAILS=5")
    assert schedule(client, "plain", *plain, headers=operator)["status"] == "ok"
    feeds = CODE_PATHS_AND_ADDRESSES["FEEDS"]
    assert schedule(client, "feeds", f"FEEDS={feeds}", auth=ADA)["status"] == "ok"
    entries = module_database.rows(
        "SELECT person, details FROM audit WHERE action = 'job scheduled' AND subject IN ('plain', 'feeds')"
        " ORDER BY id"
    )
    assert [(entry.person, entry.details["settings"]) for entry in entries] == [
        ("token a scheduler", {"LOG_LEVEL": "DEBUG", "SWEEP_MAX_DETAILS": "5"}),
        ("ada", {"FEEDS": feeds}),
    ]
    # The beginning is enough: the row of the job has all of it.
    assert entries[0].details["arguments"] == {"market": "bikes" * 40}


@pytest.mark.slow
def test_an_uploaded_egg_leaves_an_entry_even_if_it_is_refused(
    client: httpx.Client, module_database: Database
) -> None:
    """Listing its spiders has already run its code."""
    egg = packed_egg()
    fields = {"project": BROKEN_PROJECT, "version": "r1"}
    answer = client.post("/addversion.json", data=fields, files={"egg": egg}, auth=ADA).json()
    assert "the egg was not deployed, its spiders cannot be listed" in answer["message"]
    entry = module_database.row("SELECT * FROM audit WHERE subject = :project", project=BROKEN_PROJECT)
    assert (entry.person, entry.action) == (ADA[0], "version uploaded")
    assert entry.details == {"version": "r1", "bytes": len(egg)}


@pytest.mark.slow
def test_the_cancel_button_is_shown_to_those_who_may_cancel(
    client: httpx.Client, module_database: Database
) -> None:
    for path in ("/jobs", "/scrapyd/jobs"):
        for role in (AccessRole.READ, AccessRole.OPERATE):
            token = make_token(module_database, role, f"{role} for {path}")
            page = client.get(path, headers=bearer(token)).text
            assert ("<th>Cancel</th>" in page) is (role is AccessRole.OPERATE)
