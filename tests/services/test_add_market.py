"""Adding a market by fields or by address: both follow the same rules and give the same messages."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.services import add_market
from tests.databases import Database

SITE = "http://127.0.0.1:6880"
GOOD = {"id": "bazaar-clocks", "start_pages": ["/c/clocks"]}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"id": "Clocks"}, "is not a valid market id"),
    ({"id": "c" * 81}, "is not a valid market id"),
    ({"id": "../clocks"}, "is not a valid market id"),
    ({"id": "bazaar-bikes"}, "There is already a market 'bazaar-bikes'."),
    ({"start_pages": []}, "has no start page"),
    ({"start_pages": [f"{SITE}/"]}, "has no start page"),
    ({"tier": "warm"}, "Unknown tier 'warm'. Known: hot, standard, cool."),
    ({"max_pages": 0}, "max_pages must be between 1 and 100000."),
    ({"scrape_frequency_hours": 10**9}, "scrape_frequency_hours must be between"),
    ({"min_price_cents": 5}, "Give the currency of the price range"),
    ({"min_price_cents": 5, "price_currency": "XYZ"}, "'XYZ' is not a currency code."),
    ({"min_price": "1,000", "price_currency": "KWD"}, "can be read as 1000.000 KWD or as 1.000 KWD"),
    ({"max_price": "12.5", "price_currency": "JPY"}, "is not a price in JPY, which has no decimals"),
    ({"min_price_cents": -1, "price_currency": "EUR"}, "A price in minor units must be between"),
    (
        {"min_price_cents": 2, "max_price_cents": 1, "price_currency": "EUR"},
        "The minimum price is above the maximum price.",
    ),
]


def by_fields(database: Database, values: dict[str, Any]) -> None:
    database.call(add_market.add, values, "bazaar")


def by_address(database: Database, values: dict[str, Any]) -> None:
    urls = [page if "://" in page else SITE + page for page in values["start_pages"]] or [SITE]
    database.call(add_market.add_by_address, urls, values)


@pytest.mark.parametrize("add", [by_fields, by_address])
def test_both_ways_add_the_same_market(add: Any, database: Database) -> None:
    add(database, {**GOOD, "tier": "cool", "max_pages": 7, "display_name": " Clocks\x00 "})
    market = database.row("SELECT * FROM markets WHERE id = 'bazaar-clocks'")
    assert (market.source_id, market.start_pages) == ("bazaar", ["/c/clocks"])
    assert (market.tier, market.max_pages, market.display_name) == ("cool", 7, "Clocks")
    assert market.enabled


@pytest.mark.parametrize("add", [by_fields, by_address])
@pytest.mark.parametrize(
    ("currency", "minor"), [("EUR", 100_000), ("JPY", 1_000), ("KWD", 1_000_000), ("CLF", 10_000_000)]
)
def test_a_typed_price_has_the_decimals_of_its_currency(
    add: Any, database: Database, currency: str, minor: int
) -> None:
    add(database, {**GOOD, "min_price": "1000", "max_price": "", "price_currency": currency.lower()})
    market = database.row("SELECT * FROM markets WHERE id = 'bazaar-clocks'")
    assert (market.min_price_cents, market.max_price_cents, market.price_currency) == (minor, None, currency)


def test_adapter_with_a_fixed_currency_refuses_other_currencies(database: Database) -> None:
    nikon, site = {"id": "nikon", "keyword": "nikon", "max_price": "50,000"}, ["https://jp.mercari.com"]
    with pytest.raises(UserError, match="The prices of 'mercari' are in JPY, not in EUR"):
        database.call(add_market.add_by_address, site, {**nikon, "price_currency": "EUR"})
    database.call(add_market.add_by_address, site, nikon)
    market = database.row("SELECT * FROM markets WHERE id = 'nikon'")
    assert (market.max_price_cents, market.price_currency) == (50_000, "JPY")


@pytest.mark.parametrize("add", [by_fields, by_address])
def test_both_ways_refuse_with_the_same_message(add: Any, database: Database) -> None:
    before = database.value("SELECT count(*) FROM markets")
    for wrong, message in WRONG:
        with pytest.raises(UserError) as refused:
            add(database, {**GOOD, **wrong})
        assert message in str(refused.value)
    assert database.value("SELECT count(*) FROM markets") == before


@pytest.mark.parametrize(
    "page", ["c/clocks", "//evil.example/c", "https://evil.example/c", "ftp://x.example/"]
)
def test_start_page_must_belong_to_the_site(page: str, database: Database) -> None:
    with pytest.raises(UserError, match=r"not an address or a path|does not belong to|not a web address"):
        by_fields(database, {**GOOD, "start_pages": [page]})
