"""A database that is there but says nothing: crawls, daemon and pages say so in time, and go on later."""

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
from tests.line import Line
from tests.scheduling.daemons import CHEAP, Daemon
from tests.waiting import until

IMPATIENT = {"DATABASE_ANSWER_SECONDS": "2"}
# Far beyond what it takes, and far below for ever.
ENOUGH = 60


@pytest.fixture
def line(database: Database) -> Iterator[Line]:
    with Line(database.url) as made:
        yield made


@pytest.fixture
def impatient(line: Line, crawl: Crawl) -> Crawl:
    """Crawls whose way to the database is that line."""
    crawl.environment = {**crawl.environment, "DATABASE_URL": line.url, **IMPATIENT}
    return crawl


def test_a_statement_and_a_commit_end(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", "1")
    engine = store_database.connect(make_url(line.url))
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        line.die()
        with pytest.raises(OperationalError, match="closed the connection"):
            connection.execute(text("SELECT 2"))
    line.revive()
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE things (id int)"))
        line.die()
        with pytest.raises(OperationalError):
            connection.commit()
    with pytest.raises(OperationalError, match="timeout expired"):
        engine.connect()
    line.revive()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 3")).scalar() == 3
    engine.dispose()


def test_a_slow_answer_is_waited_for(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", "30")
    engine = store_database.connect(make_url(line.url))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1 FROM pg_sleep(1.5)")).scalar() == 1
    engine.dispose()


@pytest.mark.parametrize("given", ["soon", "0", "nan", "inf"])
def test_how_long_is_a_number(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_ANSWER_SECONDS", given)
    with pytest.raises(UserError, match="DATABASE_ANSWER_SECONDS"):
        store_database.answer_seconds()


def wait_for_pages(database: Database) -> None:
    until(lambda: bool(database.value("SELECT coalesce(max(pages), 0) FROM runs")), ENOUGH)


@pytest.mark.slow
def test_a_crawl_goes_on_when_it_speaks_again(
    marketplace: Bazaar, database: Database, impatient: Crawl, line: Line
) -> None:
    database.do("UPDATE markets SET page_size = 10 WHERE id = 'bazaar-bikes'")
    running = impatient.start("sweep", market="bazaar-bikes", settings={"DATABASE_RETRY_SECONDS": 300})
    wait_for_pages(database)
    line.die()
    until(lambda: "database is away" in running._written()[1], ENOUGH)
    line.revive()
    outcome = running.end()
    assert outcome.returncode == 0, outcome.stderr
    assert database.last_run("sweep").status == "finished"


@pytest.mark.slow
def test_a_crawl_says_so_and_ends_when_it_does_not(
    marketplace: Bazaar, database: Database, impatient: Crawl, line: Line
) -> None:
    database.do("UPDATE markets SET page_size = 10 WHERE id = 'bazaar-bikes'")
    running = impatient.start("sweep", market="bazaar-bikes", settings={"DATABASE_RETRY_SECONDS": 5})
    wait_for_pages(database)
    line.die()
    outcome = running.end(ENOUGH)
    assert outcome.returncode != 0
    assert "The database was away for 5 seconds" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def status_of(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=ENOUGH) as answer:  # noqa: S310 - our own
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.proof
def test_the_daemon_and_its_pages_say_so_and_go_on(line: Line, database: Database, tmp_path: Path) -> None:
    environment = {"DATABASE_URL": line.url, "PRICEWATCH_VAR": str(tmp_path / "var"), **IMPATIENT}
    (tmp_path / "marks").mkdir()
    environment["MARKS"] = str(tmp_path / "marks")
    daemon = Daemon(tmp_path, "patient", environment, **CHEAP)
    try:
        daemon.wait()
        assert status_of(f"{daemon.url}/api/runs")[0] == 200
        line.die()
        for path in ("/api/runs", "/", "/metrics"):
            assert status_of(daemon.url + path)[0] == 503, path
        status, said = status_of(f"{daemon.url}/daemonstatus.json")
        assert (status, json.loads(said)["status"]) == (200, "error")
        assert b"The database does not answer" in said
        until(lambda: "failed, retrying" in daemon.log.read_text(), ENOUGH)
        line.revive()
        until(lambda: status_of(f"{daemon.url}/api/runs")[0] == 200, ENOUGH)
        job = daemon.schedule("quick")
        until(lambda: daemon.states().get(job) == "finished", ENOUGH)
    finally:
        daemon.abandon()
