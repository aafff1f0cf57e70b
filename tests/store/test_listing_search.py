"""Search by words and conditions: what a listing shows is found, whichever of its fields shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.items import SellerInfo
from pricewatch.store.views import admin_listings, public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.views.listing_matches import matching_ids
from pricewatch.vocabulary import SellerType
from tests.databases import Database
from tests.store.observations import MARKET, card, store

NOW = datetime.now(UTC)
SHOP = SellerInfo("8", "Müller & Söhne", SellerType.SHOP)
Find = Callable[..., set[int]]
HOMES: dict[int, dict[str, Any]] = {
    1: {
        "title": "2-Zimmer-Loft am Gürtel",
        "location": "1120 Wien, Meidling",
        "area": 50.0,
        "attributes": {"rooms": "2", "postcode": "1120", "district": "Meidling", "floor": "3. Stock"},
    },
    2: {
        "title": "Große Wohnung",
        "location": "1150 Wien",
        "area": 80.0,
        "attributes": {"rooms": "2,5 Zimmer", "postcode": "1150", "heating": ["Gas", "Fernwärme"]},
        "seller": SHOP,
    },
    3: {
        "title": "Loft in der Altstadt",
        "location": "5020 Salzburg",
        "area": 120.0,
        "attributes": {"beds": "4 beds", "heating": "Gas", "year": 1905},
    },
    4: {"title": "Trek road bike", "attributes": {"frame": "Carbon", "km": "1.200 km"}},
}
PRICES = {1: 100_000, 2: 96_000, 3: 300_000, 4: None}


@pytest.fixture
def find(database: Database) -> Find:
    """Search in every way that there is, and return the numbers of the listings that all of them find."""
    store(database.engine, [card(n, PRICES[n], at=NOW, **fields) for n, fields in HOMES.items()])
    database.do("UPDATE sources SET visibility = 'VISIBLE' WHERE id = 'bazaar'")
    database.do("ANALYZE listings")
    ids = {row.id: int(row.platform_id) for row in database.rows("SELECT id, platform_id FROM listings")}

    def found(**query: str) -> set[int]:
        filter_ = ListingFilter.from_query({name.replace("__", "."): v for name, v in query.items()}, NOW)
        admin, _ = database.call(admin_listings.listings_page, filter_, now=NOW, most=10)
        public, _ = database.call(public_listings.listings, filter_, 10)
        everything = public_listings.all_listings(database.engine.connect, filter_, 10, everything_at=NOW)
        answers = [
            {row["id"] for row in admin},
            {row["id"] for row in public},
            {row["id"] for row in everything},
            database.call(matching_ids, filter_, list(ids)),
        ]
        assert all(answer == answers[0] for answer in answers), answers
        return {ids[listing_id] for listing_id in answers[0]}

    return found


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("Wien", {1, 2}),
        ("2-Zimmer", {1}),
        ("Zimmer", {1, 2}),
        ("loft", {1, 3}),
        ("2-Zimmer-Loft", {1}),
        ("Loft-Zimmer", set()),
        ("gurtel", {1}),
        ("GÜRTEL", {1}),
        ("grosse", {2}),
        ("GROẞE", {2}),
        ("fernwarme", {2}),
        ("muller", {2}),
        ('"Müller & Söhne"', {2}),
        ("Ada loft", {1, 3}),
        ("woh*", {2}),
        ("woh", set()),
        ("carbon", {4}),
        ("1905", {3}),
        ("loft -salzburg", {1}),
        ('loft -"2-Zimmer"', {3}),
        ("bike or salzburg", {3, 4}),
        ('"am Gürtel"', {1}),
        ('"Gürtel am"', set()),
        ("3.Stock", {1}),
        ("***", set()),
        ("' | !", set()),
    ],
)
def test_words_of_all_that_a_listing_shows_are_found(find: Find, words: str, numbers: set[int]) -> None:
    assert find(q=words) == numbers
    assert find(q=words, market=MARKET) == numbers


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"without": "loft"}, {2, 4}),
        ({"without": "loft, bike"}, {2}),
        ({"without": '"große wohnung" bik*'}, {1, 3}),
        ({"q": "wien", "without": "große"}, {1}),
        ({"unit_lowest": "15", "currency": "EUR"}, {1, 3}),
        ({"unit_highest": "19.99", "unit_lowest": "12", "currency": "EUR"}, {2}),
        ({"unit_lowest": "15", "currency": "USD"}, set()),
        ({"lowest": "1000", "highest": "2000", "currency": "EUR"}, {1}),
        ({"area_min": "80"}, {2, 3}),
        ({"area_max": "79,5"}, {1}),
        ({"rooms_min": "2.5"}, {2, 3}),
        ({"rooms_min": "2", "rooms_max": "2,5"}, {1, 2}),
        ({"place": "1120"}, {1}),
        ({"place": "11"}, {1, 2}),
        ({"place": "1120, 5020"}, {1, 3}),
        ({"place": "meidling, SALZBURG"}, {1, 3}),
        ({"place": "Salz"}, set()),
        ({"seller": "shop"}, {2}),
        ({"seller": "user"}, {1, 3, 4}),
        ({"attr__heating": "gas"}, {2, 3}),
        ({"attr__frame": "CARBON"}, {4}),
        ({"attr__km__min": "1000", "attr__km__max": "1200"}, {4}),
        ({"attr__year__max": "1900"}, set()),
        ({"attr__year__max": "1910", "attr__heating": "gas"}, {3}),
        ({"q": "loft", "place": "5020", "rooms_min": "4"}, {3}),
        ({"state": "off"}, set()),
        ({"state": "on", "q": "bike", "market": MARKET, "source": "bazaar"}, {4}),
        ({"market": "bazaar-toys"}, set()),
        ({"source_id": "bazaar", "market_id": MARKET, "availability": "IN_STOCK", "q": "bike"}, {4}),
        ({"min_price_cents": "200000", "currency": "EUR"}, {3}),
    ],
)
def test_conditions_on_what_a_listing_shows(find: Find, query: dict[str, str], numbers: set[int]) -> None:
    assert find(**query) == numbers


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"rooms_min": "two"}, "rooms_min: 'two' is not a number. Example: 2.5"),
        ({"area_min": "nan"}, "area_min: 'nan' is not a number. Example: 2.5"),
        ({"area_min": "1e99"}, "area_min: '1e99' is not a number. Example: 2.5"),
        ({"area_min": "9", "area_max": "5"}, "area_min 9 is more than area_max 5."),
        ({"lowest": "9", "highest": "5", "currency": "EUR"}, "The lowest price 9.00 EUR is more than"),
        ({"unit_lowest": "9"}, "Choose the currency of the price."),
        ({"seller": "robot"}, "Unknown seller 'robot'. Known: user, shop"),
        ({"stock": "x"}, "Unknown stock 'x'. Known: IN_STOCK"),
        ({"state": "x"}, "Unknown state 'x'. Known: on, off"),
        ({"price_age": "-1"}, "price_age: give 1 to 8784 hours."),
        ({"q": "x" * 201}, "q is too long: at most 200 characters."),
        ({"min_price_cents": "1.5", "currency": "EUR"}, "not a whole number of minor units"),
        ({"attr.km.min": "x"}, "attr.km.min: 'x' is not a number"),
        ({f"attr.{n}": "x" for n in range(21)}, "at most 20 attributes"),
    ],
)
def test_bad_conditions_are_refused_with_a_sentence(query: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as refused:
        ListingFilter.from_query(query, NOW)
    assert message in str(refused.value)


def test_a_filter_and_its_query_are_equivalent() -> None:
    query = {
        "q": '"a b" -c',
        "without": "d",
        "source": "s",
        "market": "m",
        "state": "off",
        "lowest": "1.00",
        "highest": "1000.50",
        "currency": "EUR",
        "stock": "SOLD",
        "price_age": "48",
        "max_price_age_hours": "0.5",
        "unit_lowest": "10.00",
        "unit_highest": "100.00",
        "area_min": "10",
        "area_max": "100.5",
        "rooms_min": "1",
        "rooms_max": "2.5",
        "place": "1120, Wien",
        "seller": "user",
        "attr.heating": "Gas",
        "attr.km.max": "1200",
        "attr.km.min": "5",
    }
    filter_ = ListingFilter.from_query(query, NOW)
    assert filter_.to_query() == query
    assert ListingFilter.from_query(filter_.to_query(), NOW) == filter_
    assert filter_.price_read_before == NOW - timedelta(hours=48)
    assert (
        ListingFilter.from_query({"q": " ", "sort": "x", "attr.": "y", "place": "\x00"}, NOW).to_query() == {}
    )


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ('"2"', "2"),
        ('"2,5"', "2.5"),
        ('"3 Zimmer"', "3"),
        ('"2½ rooms"', "2.5"),
        ('"1.200"', "1200"),
        ('"1.234,56 m²"', "1234.56"),
        ('"12,500 miles"', "12500"),
        ('"0.125"', "0.125"),
        ('"1 200 km"', "1200"),
        ('"45\'000"', "45000"),
        ('"-5 °C"', "-5"),
        ('"ca. 80 m²"', "80"),
        ("1.234", "1.234"),
        ('"1.2.3"', None),
        ('"Studio"', None),
        ('["2"]', None),
        ("null", None),
    ],
)
def test_numbers_in_attributes(database: Database, said: str, number: str | None) -> None:
    found = database.value("SELECT attribute_number(CAST(:said AS jsonb))", said=said)
    assert found == (None if number is None else Decimal(number))


@pytest.mark.parametrize("area", ["NaN", "0", "0.000001", "1e300", "Infinity"])
def test_no_price_per_unit_of_an_impossible_area(database: Database, area: str) -> None:
    assert database.value("SELECT unit_price_cents(99999999, CAST(:area AS numeric))", area=area) is None


def test_a_listing_with_an_endless_attribute_is_stored(database: Database) -> None:
    store(database.engine, [card(1, at=NOW, attributes={"text": " ".join(map(str, range(400_000)))})])
    assert database.value("SELECT count(*) FROM listings") == 1


def test_the_name_of_the_seller_follows_the_seller(database: Database) -> None:
    def name_after(seller: SellerInfo | None, minutes: int) -> Any:
        store(database.engine, [card(1, at=NOW + timedelta(minutes=minutes), seller=seller)])
        return database.value("SELECT seller_name FROM listings")

    assert name_after(SellerInfo("7", "Ada"), 1) == "Ada"
    assert name_after(None, 2) == "Ada"
    assert name_after(SellerInfo("7"), 3) == "Ada"
    assert name_after(SellerInfo("7", "Ada L."), 4) == "Ada L."
    assert name_after(SellerInfo("9"), 5) is None


def test_a_common_word_with_a_rare_condition_is_searched_in_windows(
    find: Find, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading all listings with the word would take minutes in a large table."""
    monkeypatch.setattr(admin_listings, "WINDOW", 2)
    database.do(
        "UPDATE listings SET location = '9999 Ort', seller_name = 'Ada'"
        " WHERE id = (SELECT min(id) FROM listings)"
    )
    filter_ = ListingFilter(title_query="ada", place="9999")
    pages, before = [], None
    for _ in range(3):
        paged = replace(filter_, before_id=before)
        rows, before = database.call(admin_listings.listings_page, paged, now=NOW, most=10)
        pages.append([row["location"] for row in rows])
    assert pages == [[], ["9999 Ort"], []]
    assert len(list(public_listings.all_listings(database.engine.connect, filter_, 10))) == 1


def test_a_rare_word_is_found_by_the_index(database: Database) -> None:
    database.do(
        "INSERT INTO listings (source_id, identity_key, url, canonical_url, title, brand, availability,"
        " first_seen_at, last_seen_at) SELECT 'bazaar', 'PID:' || n, 'u' || n, 'u' || n, 'Common no' || n,"
        " 'Acme', 'IN_STOCK', now(), now() FROM generate_series(1, 20000) n"
    )
    database.do("ANALYZE listings")
    for expression in ("listing_query('no777', NULL)", "listing_query('no777', 'bike')"):
        plan = database.rows(
            "EXPLAIN SELECT id FROM visible_listings v WHERE listing_words(v.title, v.brand, v.location,"
            f" v.seller_name, v.attributes) @@ {expression}"
        )
        assert "ix_listings_words" in str(plan)
    filter_ = ListingFilter(title_query="no777 acme")
    (found,) = database.call(admin_listings.listings, filter_, now=NOW, most=10)
    assert found["title"] == "Common no777"
