"""Linking listings to products: incremental, idempotent, and never by untrusted GTINs."""

from __future__ import annotations

import random
from typing import Any

from pricewatch.store.writing import history_append, listing_upsert, product_links
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, offer, on_rows

WRITES: list[Write] = on_rows(listing_upsert.upsert, product_links.request_changed, history_append.append)
GTINS = ("4006381333931", "036000291452", "96385074")


def store(database: Database, *rows: Any) -> None:
    unit = WriteUnit(list(rows))
    with database.engine.connect() as connection:
        BatchWriter(WRITES, 1, MARKET).store(connection, [unit])
    assert unit.stored


def resolve(database: Database, most: int = 7) -> int:
    done = 0
    while chunk := database.call(product_links.resolve, START, most):
        done += chunk
    return done


def products(database: Database) -> dict[str, int | None]:
    return dict(database.rows("SELECT platform_id, product_id FROM listings ORDER BY id"))


def links(database: Database) -> dict[str, Any]:
    return dict(database.rows("SELECT platform_id, product_link FROM listings ORDER BY id"))


def trust(database: Database, trusted: bool = True) -> None:
    database.call(product_links.set_gtin_trust, "bazaar", START, trusted=trusted)


def test_listings_with_the_same_trusted_gtin_are_one_product_with_an_explanation(
    database: Database,
) -> None:
    trust(database)
    store(
        database,
        offer(1, title="A drill", gtin="4006381333931"),
        offer(2, title="Bohrmaschine", gtin="0 4006381333931"),
        offer(3, title="A drill", gtin="036000291452"),
        offer(4, title="A drill"),
    )
    assert resolve(database) == 4
    found = products(database)
    assert found["1"] == found["2"] != found["3"]
    assert found["4"] is None
    found_links = links(database)
    assert found_links["1"]["by"] == "gtin"
    assert "04006381333931" in found_links["1"]["why"]
    assert found_links["4"]["by"] == "nothing"
    assert "too few words" in found_links["4"]["why"]


def test_gtins_link_listings_only_while_their_source_is_trusted(database: Database) -> None:
    store(database, offer(1, gtin="4006381333931"), offer(2, gtin="4006381333931"))
    resolve(database)
    assert products(database) == {"1": None, "2": None}
    assert "not trusted" in links(database)["1"]["notes"][0]
    trust(database)
    assert resolve(database) == 2
    assert len(set(products(database).values())) == 1
    # The links by GTIN are removed when the source is no longer trusted.
    trust(database, trusted=False)
    resolve(database)
    assert products(database) == {"1": None, "2": None}
    assert database.value("SELECT count(*) FROM products") == 0


def test_listings_are_linked_by_brand_and_part_number_then_by_title(database: Database) -> None:
    store(
        database,
        offer(1, title="Bosch GSR 18V-55 drill driver", brand="Bosch", mpn="GSR 18V-55"),
        offer(2, title="Something else", brand="BOSCH GmbH", mpn="gsr18v55"),
        offer(3, title="Drill driver GSR 18V 55, Bosch", brand="Bosch"),
        offer(4, title="Bosch GSR 18V-55 drill driver", brand="Makita", mpn="GSR 18V-55"),
    )
    resolve(database)
    found, found_links = products(database), links(database)
    assert found["1"] == found["2"] == found["3"] != found["4"]
    assert [found_links[number]["by"] for number in "123"] == ["brand_mpn", "brand_mpn", "fingerprint"]


def test_listings_are_resolved_again_only_if_their_product_page_changed(database: Database) -> None:
    store(database, offer(1, brand="Bosch", mpn="GSR 18V-55"), offer(2))
    assert resolve(database) == 2
    store(database, offer(1, 1200, later(1), brand="Bosch", mpn="GSR 18V-55"), offer(2, 1100, later(1)))
    store(database, card(1, 1300, later(2)))
    assert resolve(database) == 0
    store(database, offer(2, 1100, later(3), brand="Bosch", mpn="GSR 18V-55"))
    assert resolve(database) == 1
    assert len(set(products(database).values())) == 1


def test_a_key_that_matches_two_products_links_no_listing(database: Database) -> None:
    pair: dict[str, Any] = {"brand": "Bosch", "mpn": "GSR 18V-55"}
    store(database, offer(1, **pair))
    resolve(database)
    trust(database)
    store(database, offer(2, gtin="4006381333931", **pair))
    resolve(database)
    # The first GTIN is added to the existing product.
    assert len(set(products(database).values())) == 1
    store(database, offer(3, gtin="036000291452", **pair))
    resolve(database)
    found = products(database)
    assert found["2"] != found["3"]
    assert found["1"] is None
    assert "match 2 products" in links(database)["1"]["why"]


def test_resolving_again_changes_nothing(database: Database) -> None:
    rng = random.Random(11)
    trust(database)
    for round_ in range(6):
        rows = [
            offer(
                number,
                1000,
                later(round_),
                title=rng.choice(["Bosch GSR 18V-55 drill driver", "Makita DDF 484 drill set", "A bike"]),
                brand=rng.choice([None, "Bosch", "Makita"]),
                mpn=rng.choice([None, None, "GSR 18V-55", "DDF484"]),
                gtin=rng.choice([None, None, *GTINS]),
            )
            for number in rng.sample(range(40), 20)
        ]
        store(database, *rows)
        resolve(database)
    before = (products(database), links(database))
    database.call(product_links.request_all, later(99))
    assert resolve(database) == len(before[0])
    assert (products(database), links(database)) == before
    # Resolving everything from the start has the same result.
    database.do("UPDATE listings SET product_id = NULL, product_link = NULL, resolve_requested_at = now()")
    database.do("DELETE FROM listing_keys")
    database.do("DELETE FROM products")
    resolve(database, most=1000)
    assert links(database) == before[1]
    # No product has two GTINs, and none is without listings.
    assert database.value("SELECT count(*) FROM products") == len(set(before[0].values()) - {None})
    gtins = database.rows(
        "SELECT product_id FROM listings WHERE product_link ->> 'by' = 'gtin'"
        " GROUP BY product_id HAVING count(DISTINCT product_link ->> 'key') > 1"
    )
    assert gtins == []
