"""One login protects both the web interface and scrapyd's API, tested with a real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.databases import Database
from tests.scheduling.daemons import FAKE_SPIDERS, Daemon
from tests.waiting import until

ADA = ("ada", "50% secret")
BROWSER = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def client(database: Database, tmp_path: Path) -> Iterator[httpx.Client]:
    environment = {
        "DATABASE_URL": database.url,
        "PRICEWATCH_VAR": str(tmp_path / "var"),
        "PRICEWATCH_USER": ADA[0],
        "PRICEWATCH_PASSWORD": ADA[1],
    }
    daemon = Daemon(tmp_path, "locked", environment, **FAKE_SPIDERS)
    with httpx.Client(base_url=daemon.url) as client:

        def answers() -> bool:
            assert daemon.process.poll() is None, daemon.log.read_text()
            try:
                return client.get("/login").status_code == 200
            except httpx.TransportError:
                return False

        until(answers)
        yield client
    daemon.abandon()


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
