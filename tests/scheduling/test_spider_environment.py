"""The environment of processes that the daemon starts, read from real ones while they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from pricewatch.bazaar.client import Bazaar
from pricewatch.web.page_previews import Preview, Previews
from tests.databases import Database
from tests.scheduling.daemons import FAKE_SPIDERS, Daemon
from tests.waiting import until

MARKER = "m4rk3r"
SECRETS = {
    "PRICEWATCH_USER": MARKER,
    "PRICEWATCH_PASSWORD": MARKER,
    "PRICEWATCH_SECRET": 6 * MARKER,
    "PRICEWATCH_EGG_KEY": 6 * MARKER,
    "PRICEWATCH_NOTIFY": f"json://{MARKER}.example",
    "PRICEWATCH_NOTIFY_OPS": f"json://{MARKER}.example",
}


@pytest.fixture
def daemon(database: Database, tmp_path: Path) -> Iterator[Daemon]:
    environment = {
        **SECRETS,
        "DATABASE_URL": database.url,
        "PRICEWATCH_VAR": str(tmp_path / "var"),
        "MARKS": str(tmp_path),
        "SHOP_TOKEN": "of a custom spider",
    }
    daemon = Daemon(tmp_path, "one", environment, **FAKE_SPIDERS)
    yield daemon
    daemon.abandon()


@pytest.mark.slow
def test_spiders_get_everything_but_the_secrets_of_the_daemon(
    daemon: Daemon, database: Database, tmp_path: Path
) -> None:
    def scheduled() -> bool:
        assert daemon.process.poll() is None, daemon.log.read_text()
        try:
            job = {"project": "test", "spider": "slow", "seconds": 60}
            return httpx.post(f"{daemon.url}/schedule.json", data=job, auth=(MARKER, MARKER)).is_success
        except httpx.TransportError:
            return False

    until(scheduled)
    until(lambda: list(tmp_path.glob("*.began")))
    (mark,) = tmp_path.glob("*.began")
    environment = psutil.Process(int(mark.name.split(".")[1])).environ()
    assert environment["DATABASE_URL"] == database.url
    assert environment["SHOP_TOKEN"] == "of a custom spider"
    assert {name: value for name, value in environment.items() if MARKER in value} == {}


def is_preview(process: psutil.Process) -> bool:
    # Other processes may end meanwhile.
    with suppress(psutil.NoSuchProcess):
        return "preview" in process.cmdline()
    return False


@pytest.mark.proof
def test_previews_get_only_what_a_crawl_needs(
    marketplace: Bazaar, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**SECRETS, "SHOP_TOKEN": MARKER}.items():
        monkeypatch.setenv(name, value)
    listing = next(each for each in marketplace.truth() if each.state == "on_sale" and each.markup != "js")
    marketplace.fault("hang", f"^{listing.url}", seconds=3, times=1)
    found: list[Preview] = []
    preview = threading.Thread(
        target=lambda: found.append(Previews(1).fetch(f"{marketplace.url}{listing.url}", {}))
    )
    preview.start()
    until(lambda: any(entry.path == listing.url for entry in marketplace.log()))
    (process,) = (each for each in psutil.Process().children() if is_preview(each))
    environment = process.environ()
    preview.join()
    assert environment["DATABASE_URL"] == database.url
    assert environment["PRICEWATCH_VAR"] == os.environ["PRICEWATCH_VAR"]
    assert {name: value for name, value in environment.items() if MARKER in value} == {}
    assert found[0].result["status"] == "ok"
