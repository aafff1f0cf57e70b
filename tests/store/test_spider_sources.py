"""The source of a custom spider: found by its id or its site, or created without approval."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pricewatch.errors import RunRefused, UserError
from pricewatch.services import add_market
from pricewatch.store.source_registry import market_rows, source_rows, spider_sources
from pricewatch.store.source_registry.source_rows import SourceRecord
from tests.databases import Database
from tests.store.sample_targets import NOW


def source_for(database: Database, site: str, source_id: str | None = None) -> SourceRecord:
    found: SourceRecord = database.call(spider_sources.source_for, "toys", source_id, site, NOW)
    return found


@pytest.mark.parametrize(
    ("site", "source_id", "base_url"),
    [
        ("shop.example", "shop.example", "https://shop.example"),
        ("www.shop.example", "shop.example", "https://www.shop.example"),
        ("http://www.Shop.example/toys?page=2", "shop.example", "http://www.shop.example"),
        ("https://ada:secret@shop.example/", "shop.example", "https://shop.example"),
        ("localhost:8000", "localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000/toys", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/toys", "[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_source_is_created_for_a_new_site(
    database: Database, site: str, source_id: str, base_url: str
) -> None:
    source = source_for(database, site)
    assert (source.id, source.base_url, source.adapter_id) == (source_id, base_url, "generic")
    assert not source.is_approved
    assert source_for(database, site) == source
    row = database.row("SELECT * FROM sources WHERE id = :id", id=source_id)
    assert (row.visibility, row.created_at) == ("INELIGIBLE", NOW)
    # A target of the same site belongs to this source.
    url = site if "://" in site else f"http://{site}/item/1"
    assert database.call(source_rows.create_missing, [url]).of(url) == source


def test_a_new_source_uses_the_adapter_of_its_site(database: Database) -> None:
    assert source_for(database, "willhaben.at").adapter_id == "willhaben"


def test_known_sources_are_found_by_id_or_site(database: Database) -> None:
    assert source_for(database, "", "apartments").id == "apartments"
    assert source_for(database, "https://www.apartments.com/boston").id == "apartments"
    assert source_for(database, "apartments.com", "of-my-own").id == "apartments"
    assert source_for(database, "shop.example", "apartments").id == "apartments"
    assert source_for(database, "http://127.0.0.1:6880/c/toys").is_approved
    assert database.value("SELECT count(*) FROM sources") == 2


def test_a_spider_may_set_the_id_of_its_new_source(database: Database) -> None:
    assert source_for(database, "other.example", "").id == "other.example"
    source = source_for(database, "shop.example", "toy-shop")
    assert (source.id, source.domain) == ("toy-shop", "shop.example")
    assert source_for(database, "https://www.shop.example/toys") == source


@pytest.mark.parametrize("source_id", ["*", "a b", "x" * 101, "../x"])
def test_an_invalid_source_id_is_refused(database: Database, source_id: str) -> None:
    with pytest.raises(UserError, match="of the spider toys is not a valid id: use at most 100 letters"):
        source_for(database, "shop.example", source_id)
    assert database.value("SELECT count(*) FROM sources") == 2


@pytest.mark.parametrize("site", ["http://", "ftp://shop.example", "shop.example:x", "http://[::1", "a b"])
def test_an_invalid_site_is_refused(database: Database, site: str) -> None:
    with pytest.raises(UserError, match="of the spider toys is not a valid URL"):
        source_for(database, site)


def test_a_spider_without_a_site_is_refused_with_a_solution(database: Database) -> None:
    for source_id in (None, "unknown"):
        with pytest.raises(UserError, match="set `allowed_domains`, `start_urls`, or `source`"):
            source_for(database, "", source_id)


def test_runs_are_refused_until_the_source_is_approved(database: Database) -> None:
    source = source_for(database, "shop.example")
    with pytest.raises(RunRefused) as refused:
        source_rows.check_approved(source)
    with pytest.raises(RunRefused, match="Nobody has approved fetching from apartments yet"):
        database.call(market_rows.load_approved_market, "boston-ma")
    assert "`scrapy sources approve shop.example --by NAME`" in str(refused.value)
    database.call(source_rows.approve, "shop.example", "Ada", NOW)
    source_rows.check_approved(source_for(database, "shop.example"))


def test_a_market_of_the_same_site_has_the_same_source(database: Database) -> None:
    source = source_for(database, "https://www.willhaben.at")
    added = database.call(add_market.add_by_address, ["https://www.willhaben.at/iad/bikes"], {"id": "bikes"})
    assert added.source_id == source.id


def test_concurrent_first_runs_create_one_source(database: Database) -> None:
    with ThreadPoolExecutor(4) as threads:
        sources = list(threads.map(lambda _: source_for(database, "shop.example"), range(8)))
    assert {source.id for source in sources} == {"shop.example"}
    assert database.value("SELECT count(*) FROM sources") == 3
