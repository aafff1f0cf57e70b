"""Text fields with markup, quotes, control characters, bidirectional marks, emoji and NUL."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, Offer, Ok, SellerInfo
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import canonical_url
from pricewatch.rules.validation import validate_offer
from pricewatch.store.writing.incoming_rows import offer_row
from pricewatch.vocabulary import Availability, SellerType
from tests.databases import Database
from tests.generic_reader.pages import SHOP, page, product
from tests.hostile.texts import FORBIDDEN, HOSTILE_TEXTS, hostile_texts
from tests.spiders.conftest import World
from tests.store.observations import START, stored_unit

QUICK = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
STORED = (
    "SELECT l.title, l.brand, l.sku, l.mpn, l.location, l.attributes::text, s.name, l.price_cents"
    " FROM listings l LEFT JOIN sellers s ON s.id = l.seller_id"
)


def embedded(value: Any) -> str:
    """JSON-LD in a script element, with `</` escaped."""
    text = json.dumps(value).replace("</", "<\\/")
    return f'<script type="application/ld+json">{text}</script>'


@QUICK
@given(name=hostile_texts(), brand=hostile_texts(), seller=hostile_texts(), sku=hostile_texts())
def test_a_page_of_hostile_texts_gives_the_right_price_or_none(
    name: str, brand: str, seller: str, sku: str
) -> None:
    data = product(name=name, brand=brand, sku=sku, offer={"seller": {"@type": "Person", "name": seller}})
    response = HtmlResponse(SHOP, body=page(embedded(data)).encode("utf-8", "surrogatepass"))
    result = GenericAdapter().extract(response)
    if isinstance(result, Extracted):
        assert (result.offer.price_cents, result.offer.currency) == (1999, "EUR")


@QUICK
@given(texts=st.lists(hostile_texts(), min_size=6, max_size=6), number=st.integers(1, 10**6))
def test_stored_texts_have_no_forbidden_characters(database: Database, texts: list[str], number: int) -> None:
    title, brand, seller, sku, location, attribute = texts
    url = canonical_url(f"https://shop.example/item/{number}")
    offer = Offer(
        url=url,
        title=title,
        price_cents=1999,
        currency="EUR",
        availability=Availability.IN_STOCK,
        source="bazaar",
        observed_at=START,
        identity_key=identity_key(None, sku, url),
        adapter_version="1.0.0",
        sku=sku,
        mpn=brand,
        brand=brand,
        location=location,
        seller=SellerInfo(seller, seller, SellerType.USER),
        attributes={attribute: attribute},
    )
    checked = validate_offer(offer)
    if not isinstance(checked, Ok):
        # Nothing was left of the title or of the identity key.
        return
    unit = stored_unit(database.engine, [offer_row(checked.offer, START)])
    assert unit.refused == []
    for row in database.rows(STORED):
        *stored, price = row
        assert price == 1999
        assert [text for text in stored if text and FORBIDDEN.search(text)] == []


def test_a_market_of_hostile_texts_is_read_to_the_end(world: World) -> None:
    listings = [
        world.bazaar.add("bikes", title, 12_300 + number)
        for number, title in enumerate(text[:200] for text in HOSTILE_TEXTS)
        if title.strip() and title.isprintable()
    ]
    world.crawl("discovery")
    run = world.database.last_run()
    assert (run.status, run.reason) == ("finished", None)
    for listing in listings:
        stored = world.listing(listing)
        assert stored.price_cents == listing.price
        assert not FORBIDDEN.search(stored.title)
