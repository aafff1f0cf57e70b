"""Pages whose data, hidden parts or other products give another price than the page shows."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.corpus.hostile_page import PRICE, PRODUCT, Pages, document, kind, page
from tests.hostile.corpus.json_ld import GOOD, script

# The prices that a page lies about, in data that a reader could believe.
LIES = ("1.00", "1999.00", "19.00", "24.99", "19.98")


def json_ld(lie: str) -> str:
    return script(GOOD.replace("19.99", lie))


def microdata(lie: str) -> str:
    return (
        '<div itemscope itemtype="https://schema.org/Product"><meta itemprop="name" content="Blue Kettle"><div itemprop='
        f'"offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="{lie}"><meta itemprop='
        '"priceCurrency" content="EUR"></div></div>'
    )


def meta(lie: str) -> str:
    return (
        f'<meta property="product:price:amount" content="{lie}"><meta property="product:price:currency" content="EUR">'
        '<meta property="og:type" content="product">'
    )


def state(lie: str) -> str:
    entry = {"name": "Blue Kettle", "price": lie, "currency": "EUR"}
    return f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(entry)}</script>'


def hidden_input(lie: str) -> str:
    return f'<form><input type="hidden" name="price" value="{lie}"><i data-price="{lie}"></i></form>'


def hidden_price(lie: str) -> str:
    return f'<div style="display:none"><span class="price">€{lie}</span></div>'


def hidden_by_class(lie: str) -> str:
    return (
        f'<div class="d-none"><h1>Blue Kettle</h1><span class="price">€{lie}</span><button>Buy</button></div>'
    )


def comment(lie: str) -> str:
    return f'<!-- <span class="price">€{lie}</span> -->'


def other_product(lie: str) -> str:
    return (
        f'<h2>Related products</h2><div class="card"><a href="/o"><img alt="Red Pot" src="/o.png"></a><h3><a href="/o">Red '
        f'Pot</a></h3><span class="price">€{lie}</span></div>'
    )


def list_price(lie: str) -> str:
    return f'<p>RRP <del class="old-price">€{lie}</del></p>'


def instalment(lie: str) -> str:
    return f"<p>or 12 monthly payments of €{lie}</p>"


def from_price(lie: str) -> str:
    return f"<p>from €{lie}</p>"


SOURCES = (
    json_ld, microdata, meta, state, hidden_input, hidden_price, hidden_by_class, comment, other_product, list_price,
    instalment, from_price,
)  # fmt: skip


def lying(source: Any, lie: str, place: str) -> str:
    return document(f"{source(lie)}{PRODUCT}" if place == "before" else f"{PRODUCT}{source(lie)}")


def agreeing_lies(lie: str) -> str:
    """All kinds of data agree with each other, but not with the page."""
    return document(PRODUCT + microdata(lie), json_ld(lie) + meta(lie))


@kind("lies")
def lies() -> Pages:
    for source in SOURCES:
        for lie in LIES:
            for place in ("before", "after"):
                name = f"{source.__name__.replace('_', ' ')} says {lie}, {place}"
                yield page(name, lying, source, lie, place, shows=PRICE)
    for lie in LIES:
        # The parser stops before the product, and sees no contradiction.
        too_deep = "<i>" * 3_000 + "</i>" * 3_000 + PRODUCT
        yield page(
            f"data says {lie} on a page that is too deep", document, too_deep, json_ld(lie), shows=PRICE
        )
        yield page(f"all data says {lie}", agreeing_lies, lie, shows=PRICE)
    for currency in ("USD", "JPY", "XXX", "€", "eur", "", "EURO", "BTC", "E" * 50_000, "KWD"):
        data = script(GOOD.replace("EUR", currency))
        yield page(f"the currency is {currency[:20]!r} in data", document, PRODUCT, data, shows=PRICE)
