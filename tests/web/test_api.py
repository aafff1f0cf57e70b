"""The JSON API: listings for consumers, changes by programs, and problem details."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pyarrow import parquet

from pricewatch.vocabulary import AccessRole
from pricewatch.web.api import exports
from tests.databases import Database
from tests.store import observations
from tests.web.accounts import bearer, make_token
from tests.web.conftest import PASSWORD, client_of

NOW = datetime.now(UTC)


@pytest.fixture
def three(database: Database) -> list[int]:
    """A fresh listing, a stale one, and one that is gone."""
    rows = [observations.card(1, 1000, NOW), observations.card(2, 2000, NOW), observations.card(3, 3000, NOW)]
    observations.store(database.engine, rows)
    database.do(
        "UPDATE listings SET last_seen_at = :old WHERE identity_key = 'PID:2'", old=NOW - timedelta(days=4)
    )
    database.do("UPDATE listings SET active = false WHERE identity_key = 'PID:3'")
    return [row.id for row in database.rows("SELECT id FROM listings ORDER BY identity_key")]


def test_consumers_see_only_fresh_listings(
    client: httpx.Client, three: list[int], database: Database
) -> None:
    fresh, stale, gone = three
    (item,) = client.get("/api/listings").json()["items"]
    assert (item["id"], item["badge"]) == (fresh, "fresh")
    assert 95 <= item["freshness_confidence"] <= 100
    for hidden in (stale, gone):
        assert client.get(f"/api/listings/{hidden}").status_code == 404
        assert client.get(f"/api/listings/{hidden}/history").status_code == 404
        with client_of(
            PASSWORD, headers=bearer(make_token(database, AccessRole.READ, str(hidden)))
        ) as reader:
            assert reader.get(f"/api/export/listings/{hidden}/history.csv").status_code == 404


def test_a_listing_with_a_stale_price_is_not_fresh(client: httpx.Client, database: Database) -> None:
    """The listing was seen just now, but its price two days ago; its stock is unknown."""
    read = NOW - timedelta(days=2)
    observations.store(database.engine, [observations.card(1, 1000, read, availability=None)])
    observations.store(database.engine, [observations.card(1, None, NOW, availability=None)], run_id=2)
    (item,) = client.get("/api/listings").json()["items"]
    assert item["badge"] == "price seen 2 days ago"
    assert item["freshness_confidence"] == item["price_confidence"] < 30
    assert datetime.fromisoformat(item["price_observed_at"]) == read
    assert item["availability"] == "LISTED"
    (row,) = csv.DictReader(io.StringIO(client.get("/api/export/listings.csv").text))
    assert (row["availability"], row["price_observed_at"]) == ("LISTED", read.isoformat())
    assert row["freshness_confidence"] == row["price_confidence"] == str(item["price_confidence"])
    table = parquet.read_table(io.BytesIO(client.get("/api/export/listings.parquet").content))
    assert table["price_observed_at"].to_pylist() == [read]
    for query, count in (("max_price_age_hours=24", 0), ("max_price_age_hours=72", 1)):
        assert len(client.get(f"/api/listings?{query}").json()["items"]) == count
    for query, count in (("availability=LISTED", 1), ("availability=IN_STOCK", 0)):
        assert len(client.get(f"/api/listings?{query}").json()["items"]) == count
    history = client.get(f"/api/listings/{item['id']}/history").json()["items"]
    assert [row["availability"] for row in history] == ["LISTED"]


@pytest.mark.parametrize("visibility", ["INELIGIBLE", "HIDDEN"])
def test_consumers_see_only_visible_sources(
    client: httpx.Client, three: list[int], database: Database, visibility: str
) -> None:
    database.do("UPDATE sources SET visibility = :visibility", visibility=visibility)
    assert client.get("/api/listings").json() == {"items": [], "next": None}
    assert client.get(f"/api/listings/{three[0]}").status_code == 404
    assert len(list(csv.reader(io.StringIO(client.get("/api/export/listings.csv").text)))) == 1


def test_paging_returns_every_listing_once(client: httpx.Client, database: Database) -> None:
    observations.store(database.engine, [observations.card(number, at=NOW) for number in range(7)])
    seen, query = [], "/api/listings?limit=3"
    while query:
        page = client.get(query).json()
        seen += [item["id"] for item in page["items"]]
        query = f"/api/listings?limit=3&before={page['next']}" if page["next"] else ""
    assert len(seen) == len(set(seen)) == 7


def test_history_is_paged_newest_first(client: httpx.Client, database: Database) -> None:
    for minutes, price in ((0, 1000), (10, 900)):
        observations.store(database.engine, [observations.card(1, price, NOW + timedelta(minutes=minutes))])
    listing = database.value("SELECT id FROM listings")
    page = client.get(f"/api/listings/{listing}/history?limit=1").json()
    assert [row["price_cents"] for row in page["items"]] == [900]
    older = client.get(f"/api/listings/{listing}/history", params={"before": page["next"]}).json()
    assert [row["price_cents"] for row in older["items"]] == [1000]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/listings/1", 404),
        ("GET", "/api/listings?limit=0", 422),
        ("GET", "/api/nothing", 404),
        ("DELETE", "/api/listings", 405),
        ("POST", "/api/admin/markets", 422),
        ("GET", "/api/listings?q=%00", 400),
    ],
)
def test_errors_are_problem_details(client: httpx.Client, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["title"]


def test_a_market_is_added_changed_and_scraped(client: httpx.Client, database: Database) -> None:
    new = {"id": "phones-cheap", "source_id": "bazaar", "category": "phones", "max_price_cents": 20000}
    assert client.post("/api/admin/markets", json=new).status_code == 400
    new["price_currency"] = "EUR"
    added = client.post("/api/admin/markets", json=new)
    assert (added.status_code, added.json()["tier"]) == (201, "standard")
    assert client.post("/api/admin/markets", json=new).status_code == 400
    changed = client.put("/api/admin/markets/phones-cheap", json={"tier": "hot", "enabled": False}).json()
    assert (changed["tier"], changed["enabled"]) == ("hot", False)
    queued = client.post("/api/admin/markets/phones-cheap/scrape")
    assert queued.status_code == 202
    job = database.row("SELECT * FROM jobs")
    assert (job.job_id, job.spider, job.arguments) == (
        queued.json()["job_id"],
        "discovery",
        {"market": "phones-cheap", "trigger": "MANUAL"},
    )
    assert "phones-cheap" in {row["id"] for row in client.get("/api/admin/markets").json()}
    assert client.put("/api/admin/markets/none", json={}).status_code == 404
    assert database.value("SELECT count(*) FROM audit") == 3


def test_a_smaller_market_is_accepted(client: httpx.Client, database: Database) -> None:
    path = "/api/admin/markets/bazaar-bikes"
    assert client.post(f"{path}/believe").status_code == 400
    assert client.post("/api/admin/markets/none/believe").status_code == 404
    database.do(
        "UPDATE markets SET sweep_last_complete_seen = 150, sweep_last_partial_seen = 60, sweep_failures = 4"
        " WHERE id = 'bazaar-bikes'"
    )
    before = client.get(path).json()
    assert (before["consecutive_failures"], before["circuits_open"]) == (4, ["sweep"])
    assert before["failures"] == {"discovery": 0, "sweep": 4, "verification": 0}
    after = client.post(f"{path}/believe").json()
    assert (after["sweep_last_complete_seen"], after["sweep_last_partial_seen"]) == (60, None)
    assert database.value("SELECT action FROM audit") == "smaller market believed"


def test_a_market_of_an_unapproved_source_is_not_scraped(client: httpx.Client, database: Database) -> None:
    answer = client.post("/api/admin/markets/boston-ma/scrape")
    assert answer.status_code == 409
    assert "approved" in answer.json()["detail"]
    assert database.value("SELECT count(*) FROM jobs") == 0


def test_a_requested_crawl_is_queued_and_its_results_are_returned(
    client: httpx.Client, database: Database, three: list[int]
) -> None:
    assert [job["market_id"] for job in client.post("/api/crawl/execute", json={}).json()] == ["bazaar-bikes"]
    found = client.get("/api/crawl/results/bazaar-bikes").json()
    assert {item["id"] for item in found["items"]} == set(three)
    assert client.get("/api/crawl/results/none").status_code == 404


def test_targets_and_watch_rules_are_added_changed_and_removed(client: httpx.Client) -> None:
    new = {"url": "https://shop.example/item/1", "selectors": {"price": ".amount"}}
    target = client.post("/api/targets", json=new).json()
    assert target["selectors"] == {"price": ".amount"}
    assert client.post("/api/targets", json=new).status_code == 409
    changed = client.post("/api/targets", json={"url": new["url"], "selectors": {"currency": "JPY"}})
    assert (changed.status_code, changed.json()["selectors"]["currency"]) == (200, "JPY")
    assert client.post("/api/targets", json={"url": new["url"], "priority": 50}).json()["priority"] == 50
    for bad in ("http://127.0.0.1/x", "http://10.0.0.1/", "file:///etc/passwd", "http://metadata.internal/"):
        assert client.post("/api/targets", json={"url": bad}).status_code == 400
    assert client.post(f"/api/targets/{target['id']}/pause").json() == {"changed": 1}
    rule = {"kind": "fell_by", "target_id": target["id"], "threshold_percent": 10}
    assert client.post("/api/watch-rules", json=rule).status_code == 201
    assert (
        client.post("/api/watch-rules", json={"kind": "fell_by", "target_id": target["id"]}).status_code
        == 400
    )
    added = client.post("/api/watch-rules", json=rule).json()
    change = {"kind": "fell_by", "threshold_percent": 12.5, "enabled": False}
    changed = client.put(f"/api/watch-rules/{added['id']}", json=change)
    assert changed.status_code == 200
    assert changed.json() == {
        **added,
        "kind": "fell_by",
        "threshold_cents": None,
        "currency": None,
        "threshold_percent": "12.5",
        "enabled": False,
    }
    assert client.put(f"/api/watch-rules/{added['id'] + 1}", json=change).status_code == 404
    assert client.put(f"/api/watch-rules/{added['id']}", json={"kind": "fell_by"}).status_code == 400
    refused = client.post("/api/watch-rules", json={**rule, "notify": ["nowhere"]})
    assert refused.status_code == 400
    assert refused.json()["detail"] == "Unknown channel 'nowhere'. Known: none."
    assert client.delete(f"/api/targets/{target['id']}").json() == {"changed": 1}


def test_parquet_without_pyarrow_is_refused_with_instructions(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    answer = client.get("/api/export/listings.parquet")
    assert answer.status_code == 501
    assert "pip install 'pyarrow" in answer.json()["detail"]
    assert client.get("/api/export/listings.csv").status_code == 200


def test_exports_escape_spreadsheet_formulas(client: httpx.Client, database: Database) -> None:
    for number, title in enumerate(
        ("=HYPERLINK(1)", "@x", "+49 170", "-2+3", "<script>alert(1)</script>", 'a,b"c')
    ):
        observations.store(database.engine, [observations.card(number, at=NOW, title=title)])
    rows = list(csv.DictReader(io.StringIO(client.get("/api/export/listings.csv").text)))
    assert [row["title"] for row in rows[::-1]] == [
        "'=HYPERLINK(1)", "'@x", "'+49 170", "'-2+3", "<script>alert(1)</script>", "a,b\"c",
    ]  # fmt: skip
    titles = {row["title"] for row in client.get("/api/export/listings.json").json()}
    table = parquet.read_table(io.BytesIO(client.get("/api/export/listings.parquet").content))
    assert "=HYPERLINK(1)" in titles
    assert set(table["title"].to_pylist()) == titles
    assert "nosniff" in client.get("/api/export/listings.csv").headers["x-content-type-options"]
