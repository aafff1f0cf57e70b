"""A custom spider from `scrapy genspider` to a job of the daemon, as docs/own-spider.md describes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.databases import Database
from tests.scheduling.daemons import Daemon, clone_project
from tests.waiting import until

pytestmark = pytest.mark.proof
BIN = Path(sys.executable).parent
# The selectors of the template, and those that the sample marketplace needs.
SELECTORS = {
    "article.product": "article.card",
    "a::attr(href)": "a.card-link::attr(href)",
    "h2::text, h3::text": "a.card-link::text",
    ".price::text": ".card-price::text",
}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def daemon(database: Database, bazaar: Bazaar, tmp_path: Path) -> Iterator[Daemon]:
    (tmp_path / "daemon").mkdir()
    environment = {"DATABASE_URL": database.url, "PRICEWATCH_VAR": str(tmp_path / "var")}
    daemon = Daemon(tmp_path / "daemon", "one", environment)
    yield daemon.wait()
    daemon.abandon()


@pytest.fixture
def project(daemon: Daemon, tmp_path: Path) -> Path:
    (tmp_path / "clone").mkdir()
    return clone_project(tmp_path / "clone", daemon)


@pytest.fixture
def run(project: Path, database: Database) -> Run:
    def run(*command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [BIN / command[0], *command[1:]],
            cwd=project,
            env={**os.environ, "DATABASE_URL": database.url, "PYTHONPATH": str(project)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def page(daemon: Daemon, path: str) -> str:
    with urlopen(f"{daemon.url}{path}", timeout=60) as response:  # noqa: S310 - the test's daemon
        text: str = response.read().decode()
        return text


def stored(database: Database) -> dict[str, tuple[int, str]]:
    rows = database.rows("SELECT canonical_url, price_cents, currency FROM listings")
    return {urlsplit(row.canonical_url).path: (row.price_cents, row.currency) for row in rows}


def on_the_site(bazaar: Bazaar) -> dict[str, tuple[int, str]]:
    return {true.url: (true.price, true.currency) for true in bazaar.truth("toys") if true.shown[-1].listed}


def test_a_spider_is_generated_run_deployed_and_scheduled(
    daemon: Daemon, project: Path, run: Run, bazaar: Bazaar, database: Database
) -> None:
    source = urlsplit(bazaar.url).netloc
    run("scrapy", "genspider", "-t", "pricewatch", "toys", f"{bazaar.url}/c/toys")
    module = project / "pricewatch" / "spiders" / "toys.py"
    text = module.read_text()
    assert 'allowed_domains = ["127.0.0.1"]' in text
    for generated, correct in SELECTORS.items():
        assert f'"{generated}"' in text
        text = text.replace(f'"{generated}"', f'"{correct}"')
    module.write_text(text)

    refused = run("scrapy", "crawl", "toys", "--nolog", code=1)
    assert f"`scrapy sources approve {source} --by NAME`" in refused.stderr
    run("scrapy", "sources", "approve", source, "--by", "Ada")
    run("scrapy", "sources", "set", source, "--requests-per-second", "1000", "--min-delay-ms", "0")
    run("scrapy", "crawl", "toys", "-O", "out.jsonl")
    assert stored(database) == on_the_site(bazaar)
    assert len((project / "out.jsonl").read_text().splitlines()) == len(on_the_site(bazaar))

    assert '"spiders": 5' in run("scrapyd-deploy").stdout
    changed = next(true for true in bazaar.truth("toys") if true.shown[-1].listed)
    bazaar.change(changed.id, price=changed.price + 100)
    answer: Any = daemon.post("schedule.json", project="pricewatch", spider="toys", colour="red")
    job = answer["jobid"]
    until(lambda: daemon.job(job).get("state") in ("finished", "failed"))
    assert daemon.job(job)["state"] == "finished"
    stored_run = database.row("SELECT * FROM runs WHERE job_id = :job", job=job)
    assert (stored_run.spider, stored_run.status, stored_run.source_id) == ("toys", "finished", source)
    assert (stored_run.adapter_id, stored_run.arguments) == ("spider:toys", {"colour": "red"})
    assert (stored_run.new_listings, stored_run.updated_listings, stored_run.price_rows) == (
        0,
        len(on_the_site(bazaar)),
        1,
    )
    assert stored(database) == on_the_site(bazaar)

    assert f"toys run {stored_run.id}" in " ".join(
        page(daemon, f"/runs/{stored_run.id}").replace(">", " ").split()
    )
    assert f"/runs/{stored_run.id}" in page(daemon, "/admin/scraper/toys")
    listed = daemon.get("api/runs", spider="toys")["items"]
    assert listed[0]["id"] == stored_run.id
    assert daemon.get(f"api/runs/{stored_run.id}")["adapter_id"] == "spider:toys"
