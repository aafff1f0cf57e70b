"""A database that accepts connections and does not answer: it is reported in time, and work resumes later."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from pricewatch.bazaar.client import Bazaar
from pricewatch.errors import UserError
from pricewatch.store.engine import database as store_database
from tests.conftest import Crawl
from tests.databases import Database
from tests.scheduling.daemons import FAKE_SPIDERS, Daemon
from tests.stalling_proxy import StallingProxy
from tests.waiting import until
from tests.web.accounts import log_in
from tests.web.conftest import PASSWORD, client_of

SHORT_DEADLINE = {"DATABASE_ANSWER_SECONDS": "2"}
# Seconds; much longer than expected.
TIMEOUT = 60


@pytest.fixture
def proxy(database: Database) -> Iterator[StallingProxy]:
    with StallingProxy(database.url) as proxy:
        yield proxy


@pytest.fixture
def proxied_crawl(proxy: StallingProxy, crawl: Crawl) -> Crawl:
    """Crawls that reach the database through the proxy, with a short deadline."""
    crawl.environment = {**crawl.environment, "DATABASE_URL": proxy.url, **SHORT_DEADLINE}
    return crawl


def test_statements_commits_and_connections_have_a_deadline(
    proxy: StallingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", "1")
    engine = store_database.connect(make_url(proxy.url))
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        proxy.stall()
        with pytest.raises(OperationalError, match="closed the connection"):
            connection.execute(text("SELECT 2"))
    proxy.resume()
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE things (id int)"))
        proxy.stall()
        with pytest.raises(OperationalError):
            connection.commit()
    with pytest.raises(OperationalError, match="timeout expired"):
        engine.connect()
    proxy.resume()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 3")).scalar() == 3
    engine.dispose()


def test_answers_within_the_deadline_are_awaited(
    proxy: StallingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", "30")
    engine = store_database.connect(make_url(proxy.url))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1 FROM pg_sleep(1.5)")).scalar() == 1
    engine.dispose()


@pytest.mark.parametrize("value", ["soon", "0", "nan", "inf"])
def test_an_invalid_deadline_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", value)
    with pytest.raises(UserError, match="DATABASE_ANSWER_SECONDS"):
        store_database.answer_seconds()


def wait_for_pages(database: Database) -> None:
    until(lambda: bool(database.value("SELECT coalesce(max(pages), 0) FROM runs")), TIMEOUT)


@pytest.mark.slow
@pytest.mark.proof
def test_a_crawl_continues_when_the_database_answers_again(
    marketplace: Bazaar, database: Database, proxied_crawl: Crawl, proxy: StallingProxy
) -> None:
    database.do("UPDATE markets SET page_size = 10 WHERE id = 'bazaar-bikes'")
    running = proxied_crawl.start("sweep", market="bazaar-bikes", settings={"DATABASE_RETRY_SECONDS": 300})
    wait_for_pages(database)
    proxy.stall()
    until(lambda: "The database is unavailable" in running._written()[1], TIMEOUT)
    proxy.resume()
    outcome = running.end()
    assert outcome.returncode == 0, outcome.stderr
    assert database.last_run("sweep").status == "finished"


@pytest.mark.slow
@pytest.mark.proof
def test_a_crawl_ends_with_a_message_if_the_database_stays_silent(
    marketplace: Bazaar, database: Database, proxied_crawl: Crawl, proxy: StallingProxy
) -> None:
    database.do("UPDATE markets SET page_size = 10 WHERE id = 'bazaar-bikes'")
    running = proxied_crawl.start("sweep", market="bazaar-bikes", settings={"DATABASE_RETRY_SECONDS": 5})
    wait_for_pages(database)
    proxy.stall()
    outcome = running.end(TIMEOUT)
    assert outcome.returncode != 0
    assert "The database was unavailable for 5 seconds" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_an_outage_is_no_internal_error_for_people_who_log_in(
    proxy: StallingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", proxy.url)
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", "1")
    with client_of(PASSWORD) as client:
        assert log_in(client, PASSWORD.username, PASSWORD.password).status_code == 303
        proxy.stall()
        for path in ("/audit", "/api/runs"):
            answer = client.get(path)
            assert answer.status_code == 503
            assert "The database did not answer" in answer.text
        assert log_in(client, PASSWORD.username, PASSWORD.password).status_code == 503
        proxy.resume()
        assert client.get("/audit").status_code == 200


def status_of(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:  # noqa: S310 - a local URL
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.proof
def test_the_daemon_and_its_pages_report_the_outage_and_recover(
    proxy: StallingProxy, database: Database, tmp_path: Path
) -> None:
    environment = {"DATABASE_URL": proxy.url, "PRICEWATCH_VAR": str(tmp_path / "var"), **SHORT_DEADLINE}
    (tmp_path / "marks").mkdir()
    environment["MARKS"] = str(tmp_path / "marks")
    daemon = Daemon(tmp_path, "node", environment, **FAKE_SPIDERS)
    try:
        daemon.wait()
        assert status_of(f"{daemon.url}/api/runs")[0] == 200
        proxy.stall()
        for path in ("/api/runs", "/", "/metrics"):
            assert status_of(daemon.url + path)[0] == 503, path
        status, body = status_of(f"{daemon.url}/daemonstatus.json")
        assert (status, json.loads(body)["status"]) == (200, "error")
        assert b"The database does not answer" in body
        until(lambda: "failed, retrying" in daemon.log.read_text(), TIMEOUT)
        proxy.resume()
        until(lambda: status_of(f"{daemon.url}/api/runs")[0] == 200, TIMEOUT)
        job = daemon.schedule("quick")
        until(lambda: daemon.states().get(job) == "finished", TIMEOUT)
    finally:
        daemon.abandon()
