"""Third-party scrapyd clients against two real daemons: deploy to one, run on the other."""

from __future__ import annotations

import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import point_at
from tests.databases import Database
from tests.scheduling.daemons import Daemon, clone_project
from tests.waiting import until

pytestmark = pytest.mark.proof
BIN = Path(sys.executable).parent
# A spider without anything of pricewatch; its argument decides whether it fails.
SCRAPY_SPIDER = """
import os
import scrapy

class Toys(scrapy.Spider):
    name = "my toys"
    source = "bazaar"
    custom_settings = {"ITEM_PIPELINES": {}}

    async def start(self):
        if self.colour != "red":
            os._exit(3)
        return
        yield
"""


@pytest.fixture(scope="module")
def marketplace_of_module(module_database: Database) -> Iterator[Bazaar]:
    with Bazaar.start(seed=5, listings=200) as bazaar:
        point_at(module_database, bazaar)
        yield bazaar


@pytest.fixture(scope="module")
def pair(
    module_database: Database, marketplace_of_module: Bazaar, tmp_path_factory: Any
) -> Iterator[list[Daemon]]:
    """Two daemons that run real spiders."""
    daemons = []
    for name in ("one", "two"):
        directory = tmp_path_factory.mktemp(name)
        environment = {"DATABASE_URL": module_database.url, "PRICEWATCH_VAR": str(directory / "var")}
        daemons.append(Daemon(directory, name, environment))
    yield [daemon.wait() for daemon in daemons]
    for daemon in daemons:
        daemon.abandon()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: Any, pair: list[Daemon]) -> Path:
    """A clone of the project, configured to deploy to the first daemon."""
    return clone_project(tmp_path_factory.mktemp("clone"), pair[0])


@pytest.fixture(autouse=True)
def nothing_deployed(pair: list[Daemon]) -> None:
    """Remove what another test has deployed."""
    pair[0].post("delproject.json", project="pricewatch")
    until(lambda: not any(node.get("listversions.json", project="pricewatch")["versions"] for node in pair))


def client(clone: Path, *command: str) -> str:
    done = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=clone, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def change_adapter(clone: Path, version: str) -> None:
    """Change the version of the adapter, so that a run shows which code it used."""
    module = clone / "pricewatch" / "adapters" / "bazaar.py"
    lines = module.read_text().splitlines(keepends=True)
    changed = [
        f'    version = "{version}"\n' if line.strip().startswith("version") else line for line in lines
    ]
    assert changed != lines
    module.write_text("".join(changed))


def ended(daemon: Daemon, job: str) -> dict[str, Any]:
    until(lambda: daemon.job(job).get("state") in ("finished", "failed"))
    return daemon.job(job)


def run_of(database: Database, daemon: Daemon, job: str) -> Any:
    assert ended(daemon, job)["state"] == "finished", daemon.job(job)
    return database.row("SELECT * FROM runs WHERE job_id = :job", job=job)


def test_a_deploy_to_one_node_reaches_all(pair: list[Daemon], clone: Path, module_database: Database) -> None:
    two = pair[1]
    for version, adapter in (("first", "7.0.0"), ("second", "8.0.0")):
        change_adapter(clone, adapter)
        answer = client(clone, "scrapyd-deploy", "--version", version)
        assert '"status": "ok"' in answer
        assert '"spiders": 4' in answer
        job = schedule_discovery(two)
        run = run_of(module_database, two, job)
        assert (run.adapter_version, two.job(job)["version"]) == (adapter, version)
    assert two.get("listversions.json", project="pricewatch")["versions"] == ["first", "second"]
    # An older version can still be scheduled.
    old = schedule_discovery(two, _version="first")
    assert run_of(module_database, two, old).adapter_version == "7.0.0"


def test_a_running_job_ends_on_the_version_it_began_with(
    pair: list[Daemon], clone: Path, module_database: Database, marketplace_of_module: Bazaar
) -> None:
    one, two = pair
    change_adapter(clone, "17.0.0")
    client(clone, "scrapyd-deploy", "--version", "before")
    marketplace_of_module.fault("hold", "^/c/furniture")
    old = schedule_discovery(two, market="bazaar-furniture")
    until(lambda: bool(module_database.rows("SELECT 1 FROM runs WHERE job_id = :job", job=old)))
    change_adapter(clone, "18.0.0")
    client(clone, "scrapyd-deploy", "--version", "after")
    assert two.job(old)["state"] == "running"
    new = schedule_discovery(one)
    assert run_of(module_database, one, new).adapter_version == "18.0.0"
    marketplace_of_module.clear_faults()
    assert run_of(module_database, one, old).adapter_version == "17.0.0"
    assert [one.job(job)["version"] for job in (old, new)] == ["before", "after"]


def test_an_egg_contains_the_package_and_nothing_else(clone: Path, tmp_path: Path) -> None:
    client(clone, "scrapyd-deploy", "--build-egg", str(tmp_path / "built.egg"))
    with zipfile.ZipFile(tmp_path / "built.egg") as egg:
        packed = set(egg.namelist())
    files = {
        str(path.relative_to(clone))
        for path in (clone / "pricewatch").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert files - packed == set()
    assert "pricewatch/store/migrations/versions/0900_initial_schema.py" in packed
    # Tests, and the chaos proof with them, are not deployed.
    assert {path.split("/")[0] for path in packed} == {"pricewatch", "EGG-INFO"}


def test_a_broken_egg_is_not_deployed(pair: list[Daemon], clone: Path) -> None:
    two = pair[1]
    before = two.get("listversions.json", project="pricewatch")["versions"]
    settings = clone / "pricewatch" / "settings.py"
    good = settings.read_text()
    settings.write_text(good + "\nraise RuntimeError('broken on purpose')\n")
    try:
        answer = client(clone, "scrapyd-deploy", "--version", "broken")
    finally:
        settings.write_text(good)
    assert '"status": "error"' in answer
    assert "broken on purpose" in answer
    assert two.get("listversions.json", project="pricewatch")["versions"] == before


def test_any_spider_of_an_egg_is_scheduled_with_any_arguments(pair: list[Daemon], clone: Path) -> None:
    two, module = pair[1], clone / "pricewatch" / "spiders" / "toys.py"
    module.write_text(SCRAPY_SPIDER)
    try:
        assert '"spiders": 5' in client(clone, "scrapyd-deploy", "--version", "toys")
    finally:
        module.unlink()
    assert "my toys" in two.get("listspiders.json", project="pricewatch")["spiders"]
    for colour, state in (("red", "finished"), ("green", "failed")):
        arguments = {"spider": "my toys", "colour": colour, "market": "x"}
        job = two.post("schedule.json", project="pricewatch", **arguments)["jobid"]
        assert ended(two, job)["state"] == state
        assert ended(two, job)["spider"] == "my toys"


def test_scrapyd_client_lists_and_schedules_spiders(
    pair: list[Daemon], clone: Path, module_database: Database
) -> None:
    assert "pricewatch" in client(clone, "scrapyd-client", "projects").split()
    listed = client(clone, "scrapyd-client", "spiders", "-p", "pricewatch").split()
    assert listed == ["pricewatch:", "discovery", "sweep", "targets", "verification"]
    arguments = (
        "schedule",
        "-p",
        "pricewatch",
        "discovery",
        "--arg",
        "market=bazaar-toys",
        "--arg",
        "max_pages=1",
    )
    output = client(clone, "scrapyd-client", *arguments)
    job = output.split()[-1]
    assert output.startswith("pricewatch / discovery => ")
    assert run_of(module_database, pair[1], job).market_id == "bazaar-toys"


def test_python_scrapyd_api_controls_jobs_on_any_node(
    pair: list[Daemon], clone: Path, module_database: Database
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from scrapyd_api import ScrapydAPI  # type: ignore[import-untyped]
    one, two = ScrapydAPI(pair[0].url), ScrapydAPI(pair[1].url)
    assert "pricewatch" in one.list_projects()
    assert one.list_spiders("pricewatch") == ["discovery", "sweep", "targets", "verification"]
    job = one.schedule("pricewatch", "discovery", settings={"LOG_LEVEL": "DEBUG"}, market="bazaar-phones")
    run_of(module_database, pair[0], job)
    assert two.job_status("pricewatch", job) == "finished"
    finished = two.list_jobs("pricewatch")["finished"]
    assert job in [listed["id"] for listed in finished]
    with (clone / "setup.py").open("rb") as not_an_egg, pytest.raises(Exception, match="ZIP"):
        one.add_version("pricewatch", "none", not_an_egg)
    waiting = [two.schedule("pricewatch", "verification", market="bazaar-phones") for _ in range(2)]
    assert one.cancel("pricewatch", waiting[1]) == "pending"
    until(lambda: pair[0].job(waiting[0]).get("state") == "finished")
    for version in ("last", "very-last"):
        client(clone, "scrapyd-deploy", "--version", version)
    assert one.delete_version("pricewatch", "last")
    assert two.delete_project("pricewatch")
    assert one.list_versions("pricewatch") == []


def schedule_discovery(daemon: Daemon, **arguments: Any) -> str:
    limited = {"market": "bazaar-bikes", "max_pages": 1, "max_details": 0, **arguments}
    answer = daemon.post("schedule.json", project="pricewatch", spider="discovery", **limited)
    assert answer["status"] == "ok", answer
    return str(answer["jobid"])
