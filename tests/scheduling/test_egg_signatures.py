"""With a key, nodes run only eggs that a daemon with the same key has received."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from scrapyd.config import Config

from pricewatch.errors import UserError
from pricewatch.scheduling.egg_signature import EggRefused, EggSigner
from pricewatch.scheduling.egg_storage import PostgresEggStorage
from pricewatch.store.queues import deployed_eggs, job_queue
from tests.databases import Database
from tests.scheduling.conftest import Cluster
from tests.waiting import until

KEY = "0123456789abcdef0123456789abcdef"
OTHER_KEY = KEY[::-1]


@pytest.fixture
def storage(config: Config, monkeypatch: pytest.MonkeyPatch) -> PostgresEggStorage:
    """The storage of a node with the key; version 1 of project `p` is deployed to it."""
    monkeypatch.setenv("PRICEWATCH_EGG_KEY", KEY)
    storage = PostgresEggStorage(config)
    storage.put(io.BytesIO(b"good code"), "p", "1")
    return storage


def test_a_signed_egg_is_run_on_every_node_with_the_key(storage: PostgresEggStorage, tmp_path: Path) -> None:
    other_node = PostgresEggStorage(Config({"eggs_dir": str(tmp_path / "other")}))
    for node in (storage, other_node):
        found = node.fetch("p", "1")
        assert found is not None
        assert found[1].read_bytes() == b"good code"
        assert stat.S_IMODE(found[1].stat().st_mode) == 0o600


CHANGES = {
    "another content": "UPDATE eggs SET egg = 'bad code', digest = 'x' WHERE version = '1'",
    "no signature": "UPDATE eggs SET signature = NULL WHERE version = '1'",
    "the content and signature of another version": (
        "UPDATE eggs SET egg = 'other code', digest = 'x',"
        " signature = (SELECT signature FROM eggs WHERE version = '2') WHERE version = '1'"
    ),
    "another project": "UPDATE eggs SET project = 'q' WHERE version = '1'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_egg_that_was_changed_in_the_database_is_refused(
    storage: PostgresEggStorage, database: Database, change: str
) -> None:
    storage.put(io.BytesIO(b"other code"), "p", "2")
    database.do(CHANGES[change])
    with pytest.raises(EggRefused, match=r"Version 1 of . .*Deploy it again: scrapyd-deploy --version 1"):
        storage.fetch("q" if change == "another project" else "p", "1")
    assert storage.fetch("p", "2") is not None


def test_a_changed_file_on_a_node_is_not_run(storage: PostgresEggStorage) -> None:
    found = storage.fetch("p", "1")
    assert found is not None
    found[1].write_bytes(b"bad code")
    found = storage.fetch("p", "1")
    assert found is not None
    assert found[1].read_bytes() == b"good code"


def test_names_and_content_are_signed_apart() -> None:
    signer = EggSigner(KEY)
    signatures = {signer.sign(*parts) for parts in (("a", "bc", b""), ("ab", "c", b""), ("a", "b", b"c"))}
    assert len(signatures) == 3
    assert not EggSigner(OTHER_KEY).is_valid("a", "b", b"c", signer.sign("a", "b", b"c"))
    assert EggSigner("").is_valid("a", "b", b"c", None)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(UserError, match=r"PRICEWATCH_EGG_KEY has 9 characters. Expected: at least 32"):
        EggSigner("too short")


def packed() -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as egg:
        egg.writestr("code.py", "")
    return packed.getvalue()


@pytest.mark.proof
def test_a_job_of_an_unsigned_version_fails_until_it_is_deployed_again(
    make_cluster: Callable[[], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICEWATCH_EGG_KEY", KEY)
    cluster = make_cluster()
    daemon, database = cluster.start("one").wait(), cluster.database
    database.call(deployed_eggs.put, "toys", "v1", packed())
    # Nobody can schedule it through the daemon, and a row in the queue does not help either.
    refused = "Version v1 of toys is not signed"
    for answer in (
        daemon.get("listspiders.json", project="toys"),
        daemon.post("schedule.json", project="toys", spider="quick"),
    ):
        assert (answer["status"], answer["message"][: len(refused)]) == ("error", refused)
    database.call(job_queue.add, "toys", "quick", {}, job_id="first")
    until(lambda: daemon.states().get("first") == "failed")
    assert refused in daemon.job("first")["reason"]
    assert not cluster.marks.has("first", "began")
    log = daemon.directory / "var/scrapyd/logs/toys/quick/first.log"
    assert log.read_text().startswith(refused)
    alerts = "SELECT message FROM alerts WHERE kind = 'egg_refused' AND resolved_at IS NULL"
    assert database.value(alerts).startswith(refused)
    # The key is for the daemon only; deploying the version again signs it.
    fields = {"project": "toys", "version": "v1"}
    files = {"egg": packed()}
    answer = httpx.post(f"{daemon.url}/addversion.json", data=fields, files=files, timeout=60).json()
    assert (answer["status"], answer["signed"]) == ("ok", True)
    assert database.rows(alerts) == []
    job = daemon.post("schedule.json", project="toys", spider="quick")["jobid"]
    until(lambda: daemon.states().get(job) == "finished")
