"""Pages with several prices that are quarantined for a target, as the targets spider does it."""

from __future__ import annotations

from typing import Any

from scrapy.http import HtmlResponse

from pricewatch.items import Offer, ProductPage, Quarantine
from pricewatch.parsing.identity import identity_key
from pricewatch.store.writing import quarantine_rows
from pricewatch.vocabulary import Availability, QuarantineReason
from tests.databases import Database
from tests.store.observations import START, later

URL = "https://shop.example/p/1"
BUTTON = "<button>Add to cart</button>"
TWO_PRICES = """<html><body><h1>Fine shoes</h1><div class="buy"><p class="first">€ {first}</p>
<p class="second">€ {second}</p><p class="bare">17.00</p></div>{button}</body></html>"""
PATHS = {"12.50": "p.first", "20.00": "p.second", "17.00": "p.bare"}
SOURCE = """
INSERT INTO sources (id, name, domain, base_url, adapter_id, tos_approved_by)
VALUES ('shop.example', 'Shop', 'shop.example', 'https://shop.example', 'generic', 'Ada')
"""
TARGET = """
INSERT INTO targets (source_id, adapter_id, url, canonical_url, last_status, next_due_at)
VALUES ('shop.example', 'generic', :url, :url, 'QUARANTINED', now()) RETURNING id
"""


def response_of(html: str) -> HtmlResponse:
    return HtmlResponse(URL, body=html.encode(), encoding="utf-8")


def two_prices(first: str = "12,50", second: str = "20,00", button: str = BUTTON) -> str:
    return TWO_PRICES.format(first=first, second=second, button=button)


def candidate(number: int, amount: str, currency: str | None = "EUR", **values: Any) -> dict[str, Any]:
    known = {"source": "page", "where": "p", "text": f"€ {amount}", "role": "current", "score": 1.0}
    path = PATHS.get(amount, "")
    return {**known, "number": number, "amount": amount, "currency": currency, "path": path, **values}


CANDIDATES = [candidate(1, "12.50"), candidate(2, "20.00"), candidate(3, "17.00", None, text="17.00")]


def hold_page(
    database: Database,
    html: str | None = None,
    candidates: list[dict[str, Any]] | None = None,
    *,
    with_target: bool = True,
    **details: Any,
) -> int:
    """Quarantine a page without an offer for a new target, and return the id of its row."""
    database.do(SOURCE)
    html = two_prices() if html is None else html
    offer = Offer(
        url=URL,
        title="",
        price_cents=0,
        currency="",
        availability=Availability.UNKNOWN,
        source="shop.example",
        observed_at=later(10),
        identity_key=identity_key(None, None, URL),
        adapter_version="1.0.0",
    )
    item = ProductPage(offer=offer, page=html.encode(), adapter_id="generic", encoding="utf-8")
    read = {
        "why": "the page shows several prices",
        "title": "Fine shoes",
        "candidates": CANDIDATES if candidates is None else candidates,
        "evidence": ["availability: IN_STOCK (button)"],
    }
    item.quarantine = Quarantine(QuarantineReason.AMBIGUOUS_PRICE, {**read, **details})
    database.call(quarantine_rows.quarantine_offer, item, run_id=2, at=START)
    if with_target:
        database.do("UPDATE quarantine SET target_id = :id", id=database.value(TARGET, url=URL))
    quarantine_id: int = database.value("SELECT max(id) FROM quarantine")
    return quarantine_id
