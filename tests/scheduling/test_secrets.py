"""No secret appears in a log, on a page, in the database or on a command line, whatever fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import pytest
from sqlalchemy import inspect
from sqlalchemy.engine import make_url

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.scheduling import runner
from pricewatch.store.people import outbox
from tests.conftest import ROOT
from tests.databases import Database
from tests.ports import free_port
from tests.scheduling.daemons import Daemon
from tests.waiting import until

pytestmark = pytest.mark.proof
# Every secret contains this.
MARKER = "mRkR0fSecret"
LOGIN = ("ada", f"{MARKER}-password")
PAGES = (
    *("/", "/listings", "/markets", "/targets", "/products", "/admin/scraper/discovery", "/quarantine"),
    *("/watch", "/adapters", "/alerts", "/proxies", "/audit", "/jobs", "/scrapyd/", "/metrics"),
    *("/listjobs.json", "/daemonstatus.json", "/logs/", "/api/runs", "/api/alerts"),
)
# A job that fails with everything that it knows in its traceback.
BROKEN_SPIDER = """
import os
import scrapy

class Broken(scrapy.Spider):
    name = "broken"

    async def start(self):
        print(dict(os.environ))
        self.logger.error("settings: %s", dict(self.settings))
        raise RuntimeError(f"environment: {dict(os.environ)}")
        yield
"""


def secrets(database_url: str, port: int) -> dict[str, str]:
    """Every variable that holds a secret; nothing answers at the port."""
    nowhere = f"127.0.0.1:{port}"
    database = make_url(database_url).set(password=f"{MARKER}-database")
    return {
        "DATABASE_URL": database.render_as_string(hide_password=False),
        "REDIS_URL": f"redis://:{MARKER}-redis@{nowhere}/0",
        "PRICEWATCH_USER": LOGIN[0],
        "PRICEWATCH_PASSWORD": LOGIN[1],
        "PRICEWATCH_SECRET": f"{MARKER}-secret",
        "PRICEWATCH_EGG_KEY": f"{MARKER}-key-of-at-least-32-characters",
        "PROXIES_DATACENTER": f"http://{MARKER}-user:{MARKER}-proxy@{nowhere}",
        "PROXIES_RESIDENTIAL": f"http://{MARKER}-user:{MARKER}-proxy@{nowhere}",
        "PRICEWATCH_NOTIFY": f"json://{MARKER}-user:{MARKER}-notify@{nowhere}/{MARKER}-path",
        "PRICEWATCH_NOTIFY_BAD": f"nonsense://{MARKER}-bad",
    }


class Watched:
    """A daemon whose secrets are all markers, and the command lines of its jobs."""

    def __init__(self, directory: Path, database: Database, bazaar: Bazaar) -> None:
        self.database = database
        self.bazaar = bazaar
        self.port = free_port()
        self.environment = secrets(database.url, self.port)
        variables = {**self.environment, "PRICEWATCH_VAR": str(directory / "var")}
        self.daemon = Daemon(directory, "watched", variables, dispatch_seconds="1")
        self.client = httpx.Client(base_url=self.daemon.url, auth=LOGIN, timeout=60)
        self.command_lines: set[str] = set()

    def answers(self) -> bool:
        assert self.daemon.process.poll() is None, self.daemon.log.read_text()
        try:
            return self.client.get("/daemonstatus.json").status_code == 200
        except httpx.TransportError:
            return False

    def run(self, spider: str, **fields: str) -> str:
        """Run a job to its end, and return its state."""
        fields = {"project": "pricewatch", "spider": spider, **fields}
        answer = self.client.post("/schedule.json", data=fields).json()
        assert answer["status"] == "ok", answer

        def state() -> str:
            self.note_command_lines()
            return str(self.database.value("SELECT state FROM jobs WHERE job_id = :id", id=answer["jobid"]))

        until(lambda: state() in ("finished", "failed"), 120)
        return state()

    def note_command_lines(self) -> None:
        daemon = psutil.Process(self.daemon.process.pid)
        for process in (daemon, *daemon.children(recursive=True)):
            try:
                self.command_lines.add(" ".join(process.cmdline()))
            except psutil.Error:
                continue

    def written(self) -> Iterator[tuple[str, str]]:
        """Everything that somebody could read: files, pages, rows and command lines, with their names."""
        for path in (self.daemon.log, *(self.daemon.directory / "var").rglob("*")):
            # The daemon still runs, and may delete a file meanwhile.
            with suppress(FileNotFoundError):
                if path.is_file():
                    yield str(path), path.read_text(errors="replace")
        runs = self.database.rows("SELECT id FROM runs")
        logs = (self.daemon.directory / "var/scrapyd/logs").rglob("*.log")
        for page in (
            *PAGES,
            *(f"/runs/{run.id}" for run in runs),
            *(f"/logs/pricewatch/{log.parent.name}/{log.name}" for log in logs),
        ):
            response = self.client.get(page)
            assert response.status_code == 200, page
            yield page, response.text
        for table in inspect(self.database.engine).get_table_names():
            for row in self.database.rows(f"SELECT to_jsonb(t) AS data FROM {table} t"):
                yield f"table {table}", json.dumps(row.data)
        yield "command lines", "\n".join(self.command_lines)


@pytest.fixture
def watched(database: Database, bazaar: Bazaar, tmp_path: Path) -> Iterator[Watched]:
    # One source goes through the proxy that nobody answers at.
    database.do(
        "UPDATE sources SET base_url = :url, proxy_strategy = 'datacenter' WHERE id = 'bazaar'",
        url=bazaar.url,
    )
    watched = Watched(tmp_path, database, bazaar)
    until(watched.answers)
    yield watched
    watched.client.close()
    watched.daemon.abandon()


def test_no_secret_is_written_anywhere(watched: Watched) -> None:
    database, client = watched.database, watched.client
    # Jobs whose proxy, and whose Redis server, do not answer; with and without details in the log.
    for settings in ({}, {"setting": "LOG_LEVEL=DEBUG"}, {"setting": "REDIS_URL="}):
        watched.run("discovery", market="bazaar-bikes", max_pages="1", max_details="0", **settings)
    watched.run("sweep", market="no-such-market")
    # Messages to channels that do not answer or do not exist.
    for number, channels in enumerate(([], ["bad"], ["unknown"])):
        database.call(
            outbox.add, key=str(number), kind="alert", title="t", body="b", link="/", now=clock.now(),
            channels=channels,
        )  # fmt: skip
    until(lambda: database.value("SELECT count(*) FROM messages WHERE attempts > 0 AND key < '9'") == 3)
    assert database.value("SELECT count(*) FROM proxy_blocks") == 1
    # Requests with wrong passwords and tokens, and URLs with credentials.
    for credentials in (f"Basic {MARKER}", f"Bearer {MARKER}-token"):
        httpx.get(f"{watched.daemon.url}/listjobs.json", headers={"Authorization": credentials})
    httpx.get(f"{watched.daemon.url}/runs", cookies={"session": MARKER})
    client.post("/login", data={"username": MARKER, "password": MARKER})
    url = f"http://{MARKER}:{MARKER}@127.0.0.1:{watched.port}/item"
    for answer in (
        client.post("/api/targets", json={"url": url}),
        client.post("/targets/add", data={"url": url}),
    ):
        assert 400 <= answer.status_code < 500
    for fields in ({"url": url}, {"setting": f"REDIS_URL=redis://:{MARKER}@127.0.0.1"}):
        answer = client.post("/schedule.json", data={"project": "pricewatch", "spider": "targets", **fields})
        assert "holds credentials" in answer.json()["message"]
    # The database goes away and comes back.
    name = make_url(database.url).database
    client.get("/audit")
    server = database.engine.url.set(database="postgres")
    subprocess.run(
        [sys.executable, "-c", LOCK_OUT, server.render_as_string(hide_password=False), str(name)], check=True
    )
    assert client.get("/audit").status_code >= 500
    until(lambda: "not currently accepting" in watched.daemon.log.read_text())
    subprocess.run(
        [sys.executable, "-c", LET_IN, server.render_as_string(hide_password=False), str(name)], check=True
    )
    until(lambda: client.get("/audit").status_code == 200)
    found = [(where, _around(text)) for where, text in watched.written() if MARKER in text]
    assert found == [], "\n".join(map(str, found))


def _around(text: str) -> str:
    place = text.index(MARKER)
    return text[max(0, place - 100) : place + 50]


LOCK_OUT = """
import sys, psycopg2
connection = psycopg2.connect(sys.argv[1].replace("+psycopg2", ""))
connection.autocommit = True
cursor = connection.cursor()
cursor.execute(f"ALTER DATABASE {sys.argv[2]} ALLOW_CONNECTIONS false")
cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [sys.argv[2]])
"""
LET_IN = LOCK_OUT.replace("CONNECTIONS false", "CONNECTIONS true").replace("pg_terminate_backend", "abs")


def test_the_command_line_hides_secrets_too(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN_SPIDER)
    environment = {
        **os.environ,
        **secrets(f"postgresql://ada@127.0.0.1:{free_port()}/x", free_port()),
        "PYTHONPATH": str(ROOT),
    }
    job = [sys.executable, "-P", runner.__file__, "runspider", "broken.py", "-s", "LOG_FILE=job.log"]
    subprocess.run(job, cwd=tmp_path, env={**environment, runner.LOG_BYTES: "100000"}, capture_output=True)
    assert "environment: {" in (tmp_path / "job.log").read_text()
    assert MARKER not in (tmp_path / "job.log").read_text()
    # A database that is away, a daemon that cannot start.
    for command in (
        ["scrapy", "crawl", "discovery", "-a", "market=x"],
        ["scrapy", "markets", "list"],
        ["scrapyd"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert done.returncode != 0
        assert "cannot be reached" in done.stdout + done.stderr
        assert MARKER not in done.stdout + done.stderr
