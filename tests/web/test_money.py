"""Prices on pages, in forms and in the API, with their currency and its decimals."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.databases import Database
from tests.store import observations
from tests.web.conftest import Browser

NOW = datetime.now(UTC)


@pytest.fixture
def product(database: Database) -> int:
    """A product with listings in dollars, yen and dinars."""
    prices = ((1, 200_000, "USD"), (2, 150_000, "USD"), (3, 98_000, "JPY"), (4, 1_250, "KWD"))
    rows = [observations.card(number, price, NOW, currency=code) for number, price, code in prices]
    observations.store(database.engine, rows)
    product = database.value("INSERT INTO products (key, title) VALUES ('x', 'Thing') RETURNING id")
    link = '{"by": "gtin", "why": "the same GTIN 4006381333931"}'
    database.do(
        "UPDATE listings SET product_id = :id, product_link = CAST(:link AS jsonb)", id=product, link=link
    )
    return int(product)


def visible_text(page: str) -> str:
    """The visible text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def listing_id(database: Database, currency: str) -> int:
    return int(database.value("SELECT min(id) FROM listings WHERE currency = :c", c=currency))


def test_a_product_shows_the_lowest_price_of_each_currency(client: httpx.Client, product: int) -> None:
    shown = visible_text(client.get(f"/products/{product}").text)
    assert "Lowest now in USD $1,500.00 up to $2,000.00, 2 in stock" in shown
    assert "Lowest now in JPY ¥98,000 1 in stock" in shown
    assert "Lowest now in KWD 1.250 KWD 1 in stock" in shown
    assert "Each price is compared only with the lowest price in the same currency" in shown
    assert "+33%" in shown
    assert "the same GTIN 4006381333931" in shown
    listed = visible_text(client.get("/products").text)
    assert "$1,500.00 ¥98,000 1.250 KWD" in listed


def test_a_product_of_one_currency_needs_no_explanation(
    client: httpx.Client, database: Database, product: int
) -> None:
    database.do("UPDATE listings SET active = false WHERE currency <> 'JPY'")
    shown = visible_text(client.get(f"/products/{product}").text)
    assert "Lowest now ¥98,000 1 in stock" in shown
    assert "compared only with" not in shown
    database.do("UPDATE listings SET active = false")
    assert "Lowest now – no listing is in stock" in visible_text(client.get(f"/products/{product}").text)


@pytest.mark.parametrize(
    ("currency", "typed", "minor"),
    [("USD", "1,000", 100_000), ("USD", "12,50", 1_250), ("JPY", "12,500", 12_500), ("KWD", "1.5", 1_500)],
)
def test_a_typed_threshold_has_the_decimals_of_its_currency(
    browser: Browser, database: Database, product: int, currency: str, typed: str, minor: int
) -> None:
    listing = listing_id(database, currency)
    page = browser.client.get(f"/listings/{listing}").text
    assert f'name="currency" value="{currency}"' in page
    rule: dict[str, Any] = {
        "listing_id": listing,
        "kind": "price_at_or_below",
        "threshold": typed,
        "currency": currency,
    }
    assert browser.post("/watch", **rule).status_code == 303
    assert database.row("SELECT threshold_cents, currency FROM watch_rules") == (minor, currency)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"threshold": "1,000", "currency": "KWD"}, "can be read as 1000.000 KWD or as 1.000 KWD"),
        ({"threshold": "12.5", "currency": "JPY"}, "is not a price in JPY, which has no decimals"),
        ({"threshold": "12.5", "currency": ""}, "Choose the currency of the price"),
        ({"threshold": "12.5", "currency": "XYZ"}, "is not a currency code"),
        ({"threshold": "12 USD", "currency": "EUR"}, "is in USD, but the price must be in EUR"),
        ({"threshold": "", "currency": "EUR"}, "This rule needs a price"),
    ],
)
def test_an_ambiguous_price_is_refused_with_a_reason(
    browser: Browser, database: Database, product: int, fields: dict[str, str], message: str
) -> None:
    answer = browser.post("/watch", product_id=product, kind="price_at_or_below", **fields)
    assert answer.status_code == 400
    assert message in visible_text(answer.text)
    assert database.value("SELECT count(*) FROM watch_rules") == 0


def test_the_form_of_a_product_with_several_currencies_lists_them(client: httpx.Client, product: int) -> None:
    page = client.get(f"/products/{product}").text
    options = re.search(r'<select name="currency">(.*?)</select>', page, re.DOTALL)
    assert options
    assert visible_text(options[1]) == "USD JPY KWD"


def test_rules_are_shown_in_their_currency(browser: Browser, product: int) -> None:
    threshold = {"threshold": "90,000", "currency": "JPY"}
    browser.post("/watch", product_id=product, kind="price_at_or_below", **threshold)
    assert "Price at or below ¥90,000" in visible_text(browser.client.get("/watch").text)


def test_listings_are_filtered_by_a_price_in_one_currency(client: httpx.Client, product: int) -> None:
    assert visible_text(client.get("/listings?lowest=90,000&currency=JPY").text).count("Thing ") == 1
    assert "Thing 2" in client.get("/listings?highest=1500&currency=USD").text
    assert "Thing 1<" not in client.get("/listings?highest=1500&currency=USD").text
    refused = client.get("/listings?lowest=80")
    assert refused.status_code == 400
    assert "Choose the currency of the price" in refused.text
    # The most common currency is first, and so selected by default.
    options = re.search(r'<select name="currency">(.*?)</select>', client.get("/listings").text, re.DOTALL)
    assert options
    assert visible_text(options[1]) == "USD JPY KWD"


def test_the_api_requires_a_currency_with_every_amount(
    client: httpx.Client, database: Database, product: int
) -> None:
    refused = client.get("/api/listings?min_price_cents=5")
    assert refused.status_code == 400
    assert "needs a currency" in refused.json()["detail"]
    assert client.get("/api/listings?min_price_cents=5&currency=XYZ").status_code == 422
    found = client.get("/api/listings?min_price_cents=100000&currency=USD").json()["items"]
    assert {item["currency"] for item in found} == {"USD"}
    assert len(found) == 2
    assert len(client.get("/api/listings?currency=JPY").json()["items"]) == 1


def test_the_currency_of_a_rule_is_given_or_that_of_its_listing(
    client: httpx.Client, database: Database, product: int
) -> None:
    new = {"kind": "price_at_or_below", "threshold_cents": 90_000}
    assert client.post("/api/watch-rules", json={**new, "product_id": product}).status_code == 400
    named = client.post("/api/watch-rules", json={**new, "product_id": product, "currency": "JPY"}).json()
    assert (named["threshold_cents"], named["currency"]) == (90_000, "JPY")
    inferred = client.post("/api/watch-rules", json={**new, "listing_id": listing_id(database, "KWD")}).json()
    assert inferred["currency"] == "KWD"


def test_the_market_filter_includes_listings_last_seen_by_another_market(
    client: httpx.Client, database: Database
) -> None:
    """In the API, the exports and the pages alike."""
    cards = [observations.card(number, at=NOW) for number in (1, 2, 3)]
    observations.store(database.engine, cards, market_id="bazaar-bikes")
    observations.store(database.engine, cards[:2], market_id="bazaar-toys")
    for query in ("", "&q=thing", "&availability=IN_STOCK", "&limit=2"):
        path, found = f"/api/listings?market_id=bazaar-bikes{query}", 0
        while path:
            page = client.get(path).json()
            found += len(page["items"])
            path = (
                f"/api/listings?market_id=bazaar-bikes{query}&before={page['next']}" if page["next"] else ""
            )
        assert found == 3, query
    exported = client.get("/api/export/listings.csv?market=bazaar-bikes").text
    assert len(list(csv.reader(io.StringIO(exported)))) == 1 + 3
    assert len(client.get("/api/crawl/results/bazaar-bikes").json()["items"]) == 3
    assert client.get("/listings?market=bazaar-bikes").text.count('class="title"') == 3


def test_a_chart_breaks_while_the_price_is_in_another_currency(
    client: httpx.Client, database: Database
) -> None:
    points = ((40, 1_000, "EUR"), (30, 150_000, "JPY"), (20, 1_100, "EUR"), (10, 1_200, "EUR"))
    for days, price, currency in points:
        row = observations.card(1, price, NOW - timedelta(days=days), currency=currency)
        observations.store(database.engine, [row])
    page = client.get(f"/listings/{listing_id(database, 'EUR')}").text
    chart = re.search(r'<svg class="chart price-chart".*?</svg>', page, re.DOTALL)
    assert chart
    lines = re.findall(r'class="line" d="M([\d.]+),[\d.]+.*? H([\d.]+)"', chart[0])
    assert len(lines) == 2
    # The line is interrupted while the price is in yen.
    assert float(lines[0][1]) < float(lines[1][0])
    assert "in JPY" in chart[0]
    assert "Price history: 3 rows, last €12.00" in chart[0]
    assert "¥150,000" in page
