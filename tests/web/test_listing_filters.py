"""Listings as people and programs find them: filters of the page, the API and exports, and price drops."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pyarrow import parquet

from pricewatch.vocabulary import AccessRole
from tests.databases import Database
from tests.store.observations import card, store
from tests.web.accounts import bearer, make_token
from tests.web.conftest import PASSWORD, client_of

NOW = datetime.now(UTC)
HOMES: list[dict[str, Any]] = [
    {"title": "Loft A", "location": "1120 Wien", "area": 50, "attributes": {"rooms": "2", "heating": "Gas"}},
    {
        "title": "Loft B",
        "location": "1150 Wien",
        "area": 80,
        "attributes": {"rooms": "2,5", "heating": "Oil"},
    },
    {"title": "Flat C", "location": "5020 Salzburg", "attributes": {"beds": "4", "heating": "Gas"}},
]
QUERIES = {
    "q=wien": "Loft A, Loft B",
    "q=loft&without=1150": "Loft A",
    "place=1150,%205020": "Flat C, Loft B",
    "rooms_min=2.5": "Flat C, Loft B",
    "area_max=60": "Loft A",
    "unit_lowest=15&currency=EUR": "Loft A",
    "attr.heating=gas": "Flat C, Loft A",
    "seller=shop": "",
    "market=bazaar-bikes&attr.heating=oil": "Loft B",
}


@pytest.fixture
def homes(database: Database) -> Database:
    store(database.engine, [card(n, 100_000, NOW, **fields) for n, fields in enumerate(HOMES)])
    return database


def reader(database: Database, role: AccessRole = AccessRole.READ) -> httpx.Client:
    return client_of(PASSWORD, headers=bearer(make_token(database, role)))


def table(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def titles(rows: Any) -> str:
    return ", ".join(sorted(row["title"] for row in rows))


@pytest.mark.parametrize("query", QUERIES)
def test_page_api_and_exports_have_the_same_filters(
    client: httpx.Client, homes: Database, query: str
) -> None:
    page = client.get(f"/listings?{query}").text
    assert ", ".join(sorted(re.findall(r'class="title"[^>]*>([^<]+)', page))) == QUERIES[query]
    assert titles(client.get(f"/api/listings?{query}").json()["items"]) == QUERIES[query]
    assert titles(table(client.get(f"/api/export/listings.csv?{query}"))) == QUERIES[query]
    exported = re.search(r'href="(/api/export/listings\.csv\?[^"]+)"', page)
    assert exported
    assert titles(table(client.get(html.unescape(exported[1])))) == QUERIES[query]


@pytest.mark.parametrize("path", ["/listings", "/api/listings", "/api/export/listings.csv"])
def test_bad_filters_get_a_message(client: httpx.Client, database: Database, path: str) -> None:
    for query, message in {
        "rooms_min=two": "rooms_min: 'two' is not a number. Example: 2.5",
        "area_min=9&area_max=5": "area_min 9 is more than area_max 5.",
        "unit_lowest=5": "Choose the currency of the price.",
        "attr.km.min=far": "attr.km.min: 'far' is not a number",
    }.items():
        answer = client.get(f"{path}?{query}")
        assert answer.status_code == 400
        assert message in html.unescape(answer.text)


def test_rooms_area_and_unit_price_are_columns(client: httpx.Client, homes: Database) -> None:
    (item,) = client.get("/api/listings?q=%22loft+b%22").json()["items"]
    assert (float(item["rooms"]), float(item["area"]), item["unit_price_cents"]) == (2.5, 80, 1250)
    assert (item["seller_name"], item["seller_type"]) == ("Ada", "user")
    assert item["attributes"] == {"rooms": "2,5", "heating": "Oil"}
    (row,) = table(client.get("/api/export/listings.csv?q=%22loft+b%22"))
    assert (row["rooms"], row["area"], row["unit_price_cents"]) == ("2.5", "80.0", "1250")
    file = client.get("/api/export/listings.parquet?q=%22loft+b%22&scope=all").content
    (typed,) = parquet.read_table(io.BytesIO(file)).to_pylist()
    assert (typed["rooms"], typed["unit_price_cents"], typed["active"]) == (2.5, 1250, True)
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get("/listings?q=%22loft+b%22").text).split())
    assert "Loft B bazaar-bikes · 1150 Wien 2.5 80 m² €1,000.00" in page
    assert "€12.50" in page


def test_the_page_offers_attributes_and_keeps_what_was_chosen(client: httpx.Client, homes: Database) -> None:
    assert "Choose a market or source to filter" in client.get("/listings").text
    page = client.get("/listings?market=bazaar-bikes").text
    assert re.search(r'<select name="attr.heating">\s*<option value="">all</option>\s*<option>Gas<', page)
    assert "<details>" in page
    page = client.get("/listings?market=bazaar-bikes&attr.heating=Gas&rooms_min=1&currency=EUR").text
    assert "<option selected>Gas</option>" in page
    assert "<details open>" in page
    assert "More filters (2)" in page
    assert re.search(r'name="rooms_min"\s+inputmode="decimal"\s+value="1"', page)


def test_the_page_says_how_many_listings_it_searches(
    client: httpx.Client, homes: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pricewatch.store.views.admin_listings.WINDOW", 1)
    assert "These filters search" not in client.get("/listings").text
    pages = [client.get(f"/listings?attr.heating=gas&before={before}").text for before in (4, 3)]
    assert any("These filters search 1 listings at a time" in page for page in pages)
    assert "No matches among the newest 1 listings" in client.get("/listings?place=9999").text


def test_operators_export_everything_and_readers_what_is_visible(
    client: httpx.Client, homes: Database
) -> None:
    homes.do("UPDATE listings SET active = false, deactivated_at = now() WHERE title = 'Loft A'")
    ids = {row.title: row.id for row in homes.rows("SELECT id, title FROM listings")}
    with reader(homes) as program:
        assert titles(table(program.get("/api/export/listings.csv"))) == "Flat C, Loft B"
        assert titles(table(program.get("/api/export/listings.csv?state=off"))) == ""
        refused = program.get("/api/export/listings.csv?scope=all")
        assert (refused.status_code, "needs the role operate" in refused.text) == (403, True)
        assert program.get(f"/api/export/listings/{ids['Loft A']}/history.csv").status_code == 404
        assert "History as CSV" not in program.get(f"/listings/{ids['Loft A']}").text
        assert "History as CSV" in program.get(f"/listings/{ids['Loft B']}").text
        assert "scope=all" not in program.get("/listings").text
    homes.do("UPDATE sources SET visibility = 'HIDDEN'")
    with reader(homes, AccessRole.OPERATE) as program:
        assert titles(table(program.get("/api/export/listings.csv"))) == ""
        rows = table(program.get("/api/export/listings.csv?scope=all"))
        assert titles(rows) == "Flat C, Loft A, Loft B"
        assert {row["title"]: row["active"] for row in rows}["Loft A"] == "False"
        assert titles(table(program.get("/api/export/listings.csv?scope=all&state=off"))) == "Loft A"
        assert "/api/export/listings.csv?scope=all" in program.get("/listings").text
        for listing_id in ids.values():
            assert "History as CSV" in program.get(f"/listings/{listing_id}").text
            (row,) = table(program.get(f"/api/export/listings/{listing_id}/history.csv"))
            assert row["price_cents"] == "100000"
        assert program.get("/api/export/listings/999999/history.csv").status_code == 404


def test_price_drops_are_listed_on_a_page_and_in_the_api(client: httpx.Client, database: Database) -> None:
    for run, (price, hours) in enumerate(((2000, 80), (1500, 30), (1200, 2)), 1):
        store(database.engine, [card(1, price, NOW - timedelta(hours=hours))], run)
    (drop,) = client.get("/api/price-drops").json()["items"]
    assert (drop["before_cents"], drop["price_cents"], drop["percent"]) == (1500, 1200, 20.0)
    week = client.get("/api/price-drops?span=7d&limit=1").json()
    assert [one["price_cents"] for one in week["items"]] == [1200]
    older = client.get(f"/api/price-drops?span=7d&limit=1&before={week['next']}").json()
    assert [one["price_cents"] for one in older["items"]] == [1500]
    assert client.get("/api/price-drops?span=7d&min_percent=21").json()["items"][0]["price_cents"] == 1500
    assert client.get("/api/price-drops?market_id=bazaar-toys").json()["items"] == []
    for path in ("/api/price-drops?before=x", "/price-drops?before=x"):
        assert client.get(path).status_code == 400
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get("/price-drops?span=7d").text).split())
    assert "€15.00 €12.00 −20%" in page
    assert "€20.00 €15.00 −25%" in page
    assert "No price has fallen" in client.get("/price-drops?min_percent=30").text
    assert 'href="/price-drops" aria-current="page"' in client.get("/price-drops").text
    database.do("UPDATE sources SET visibility = 'HIDDEN'")
    assert client.get("/api/price-drops").json()["items"] == []
