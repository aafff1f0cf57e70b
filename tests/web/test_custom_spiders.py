"""Custom spiders in the web interface and API: runs, drift, quarantined offers, metrics."""

from __future__ import annotations

import html
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from pricewatch import clock
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.store.operations import adapter_status
from pricewatch.store.queues import job_queue
from pricewatch.store.writing import run_rows
from pricewatch.vocabulary import RunStatus
from tests.databases import Database
from tests.services.test_quarantine_review import quarantine_offer
from tests.store.drift_batches import BAD, end_run
from tests.web.conftest import Browser
from tests.web.test_every_page import visible_text
from tests.web.test_metrics import read

NAMES = ["toys", "Acme/toys & games?", "<b>toys</b> 100%", "MyShop_v2"]


def run_of(database: Database, spider: str, **values: Any) -> int:
    """A finished run of a custom spider."""
    opened = {"spider": spider, "adapter_id": reader_id(spider), "source_id": "bazaar"}
    run_id: int = database.call(run_rows.open_run, now=clock.now(), **opened, **values)
    counts = {"offers_valid": 40, "new_listings": 30, "price_rows": 31, "urls_attempted": 42}
    database.call(
        run_rows.close_run, run_id, RunStatus.FINISHED, None, finished_at=clock.now(), urls_failed=2, **counts
    )
    return run_id


@pytest.mark.parametrize("name", NAMES)
def test_runs_are_listed_by_spider(client: httpx.Client, database: Database, name: str) -> None:
    run_id = run_of(database, name)
    run_of(database, "another")
    page = f"/admin/scraper/{quote(name)}"
    everything = client.get("/admin/scraper").text
    assert f'href="{html.escape(page)}"' in everything
    assert f">{html.escape(name)}</a>" in everything
    assert name not in everything or html.escape(name) == name
    shown = visible_text(client, page)
    assert f"{run_id} bazaar Finished 40 offers · 30 new · 31 prices · 2 failed" in shown
    assert visible_text(client, "/admin/scraper").count("40 offers") == 2
    assert shown.count("40 offers") == 1
    answer = client.get("/api/runs", params={"spider": name}).json()
    assert [(row["id"], row["spider"]) for row in answer["items"]] == [(run_id, name)]
    assert client.get(f"/api/runs/{run_id}").json()["adapter_id"] == reader_id(name)
    one = visible_text(client, f"/runs/{run_id}")
    assert f"{name} run {run_id}" in one
    assert "Offers 40" in one
    assert "Pages 42 2 failed" in one
    assert f'href="{page}"' in client.get(f"/runs/{run_id}").text


def test_the_filter_lists_the_spiders_that_ran(client: httpx.Client, database: Database) -> None:
    tabs = "All Discovery Sweep Verification Targets"
    assert tabs + " All" in visible_text(client, "/admin/scraper")
    assert client.get("/admin/scraper/zoo").status_code == 404
    for name in ("zoo", "Ark", "zoo"):
        run_of(database, name)
    assert f"{tabs} Ark zoo All" in visible_text(client, "/admin/scraper/zoo")
    for wrong in ("", "x" * 101, "\x00"):
        assert client.get("/api/runs", params={"spider": wrong}).status_code in (400, 422)
    assert client.get("/api/runs", params={"spider": "nobody"}).json() == {"items": [], "next": None}


def test_a_custom_spider_may_have_the_name_of_a_built_in_one(
    client: httpx.Client, database: Database
) -> None:
    run_id = run_of(database, "verification", job_id="a1")
    database.call(job_queue.add, "shops", "verification", job_id="a1")
    shown = client.get(f"/runs/{run_id}").text
    assert "Listings checked" not in shown
    assert 'href="/logs/shops/verification/a1.log"' in shown
    assert "40 offers" in visible_text(client, "/")


def test_a_running_spider_is_shown_and_counted(client: httpx.Client, database: Database) -> None:
    opened = {"spider": "toys", "adapter_id": "spider:toys", "source_id": "bazaar"}
    run_id = database.call(run_rows.open_run, now=clock.now(), **opened)
    assert "toys" in visible_text(client, "/fragments/running")
    assert "Offers 0" in visible_text(client, f"/fragments/runs/{run_id}")
    running = read(client)["pricewatch_runs_running"]
    assert running == {("discovery",): 0, ("sweep",): 0, ("targets",): 0, ("toys",): 1, ("verification",): 0}
    database.call(run_rows.close_run, run_id, RunStatus.FINISHED, None)
    assert ("toys",) not in read(client)["pricewatch_runs_running"]


@pytest.mark.parametrize("name", NAMES)
def test_a_drifting_spider_is_disabled_and_can_be_enabled(
    browser: Browser, client: httpx.Client, database: Database, name: str
) -> None:
    reader, path = reader_id(name), f"/adapters/{quote(reader_id(name))}"
    for _ in range(2):
        end_run(database, {reader: BAD}, source="bazaar")
    assert f'href="{path}"' in client.get("/adapters").text
    assert f"{name} spider without an adapter bazaar disabled 93%" in visible_text(client, "/adapters")
    page = visible_text(client, f"{path}?source=bazaar")
    assert f"Spider {name}" in page
    assert "Disabled by pricewatch" in page
    assert f'action="{path}/enable"' in client.get(f"{path}?source=bazaar").text
    enabled = browser.post(f"{path}/enable", page=path, note="repaired", source="bazaar")
    assert enabled.status_code == 303
    assert enabled.headers["location"] == f"{path}?source=bazaar"
    message = f"The spider {name} on bazaar is enabled. Its next run is marked as watched."
    assert message in visible_text(client, path)
    assert database.call(adapter_status.check_enabled, reader, "bazaar")
    browser.post(f"{path}/disable", page=path, note="not now")
    assert "Disabled by local" in visible_text(client, path)


@pytest.mark.parametrize("name", NAMES)
def test_a_spider_is_disabled_and_enabled_by_the_api(
    client: httpx.Client, database: Database, name: str
) -> None:
    reader, path = reader_id(name), f"/api/adapters/{quote(reader_id(name), safe='')}"
    assert client.post(f"{path}/disable", json={"note": "x"}).status_code == 404
    run_of(database, name)
    # It is not disabled, and has no drift batches yet.
    assert client.post(f"{path}/enable", json={"note": "x"}).json()["enabled"] is True
    row = client.post(f"{path}/disable", json={"note": "moved"}).json()
    assert (row["adapter_id"], row["spider"], row["enabled"]) == (reader, name, False)
    assert row in client.get("/api/adapters").json()
    found = read(client)
    assert found["scrape_adapter_enabled"][(reader,)] == 0
    assert found["scrape_adapter_disabled_total"][(reader, "MANUAL")] == 1
    assert (reader,) not in found["scrape_queue_pending"]
    assert client.post(f"{path}/enable", json={"note": "repaired"}).json()["enabled"] is True
    assert read(client)["scrape_adapter_enabled"][(reader,)] == 1


def test_quarantined_offers_of_a_spider_are_reviewed(
    browser: Browser, client: httpx.Client, database: Database
) -> None:
    why = "the spider toys reads its pages itself: no adapter can read its quarantined offers again"
    quarantine_id = quarantine_offer(database, page="", adapter_id="spider:toys")
    assert "spider:toys" in visible_text(client, "/quarantine?adapter=spider%3Atoys")
    page = client.get(f"/quarantine/{quarantine_id}").text
    assert "The spider toys provided no page with the offer." in page
    assert 'value="replay' not in page
    browser.post("/quarantine", id=quarantine_id, action="replay_apply")
    assert f"Read again: 1 no adapter. {why[0].upper()}{why[1:]}." in visible_text(client, "/quarantine")
    (row,) = client.get("/api/quarantine", params={"adapter_id": "spider:toys"}).json()["items"]
    assert (row["id"], row["status"]) == (quarantine_id, "pending")
    again = client.post(f"/api/quarantine/{quarantine_id}/replay", json={"apply": True}).json()
    assert again == {"id": quarantine_id, "outcome": "no adapter", "details": why}
    assert database.value("SELECT count(*) FROM listings") == 0
    assert client.post(f"/api/quarantine/{quarantine_id}/accept", json={}).json()["outcome"] == "stored"
    assert database.value("SELECT price_cents FROM listings") == 5000
    other = quarantine_offer(database, page="", adapter_id="spider:toys", minutes=90, identity_key="PID:2")
    assert client.post(f"/api/quarantine/{other}/reject", json={}).json()["outcome"] == "rejected"
    assert "No quarantined offers" in visible_text(client, "/quarantine")


def test_a_saved_page_of_a_spider_is_shown_but_cannot_be_extracted_again(
    client: httpx.Client, database: Database
) -> None:
    quarantine_id = quarantine_offer(database, page="<p>as the spider saw it</p>", adapter_id="spider:toys")
    page = client.get(f"/quarantine/{quarantine_id}").text
    assert "as the spider saw it" in page
    assert 'value="replay' not in page
