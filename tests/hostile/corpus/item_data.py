"""Microdata, RDFa, meta tags and the state of scripts: cyclic, repeated, broken and huge."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.corpus.hostile_page import PRICE, PRODUCT, Pages, document, kind, page, placed, repeated

ITEM = (
    '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Blue Kettle</h1><div itemprop="offers" '
    'itemscope itemtype="https://schema.org/Offer"><span itemprop="price" content="19.99">€19.99</span><meta '
    'itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock"></div>'
    "<button>Add to cart</button></div>"
)
RDFA = ITEM.replace(
    'itemscope itemtype="https://schema.org/', 'vocab="https://schema.org/" typeof="'
).replace("itemprop", "property")
NAMES = (
    "name",
    "price",
    "offers",
    "url",
    "offers price",
    "a b c d e f",
    "name url value",
    "price price price",
    "image brand sku",
)


@kind("microdata")
def microdata() -> Pages:
    for name in NAMES:
        for number in (12, 60, 1_500):
            opening = f'<div itemscope itemtype="https://schema.org/Thing" itemprop="{name}">'
            yield page(f"items as {name}, {number} deep", in_item, opening * number)
            yield page(
                f"products as {name}, {number} deep", in_item, opening.replace("Thing", "Product") * number
            )
        yield page(f"8,000 times {name}", in_item, f'<i itemprop="{name}">w</i>' * 8_000)
        yield page(
            f"{name} 1,500 deep around 60 KB", in_item, f'<i itemprop="{name}">' * 1_500 + "word " * 12_000
        )
        yield page(
            f"1,400 levels, then 5,000 times {name}",
            in_item,
            "<b>" * 1_400 + f'<i itemprop="{name}">w</i>' * 5_000,
        )
    references = {
        "itself": '<div id="a" itemscope itemprop="x" itemref="a"><p itemprop="price">5</p></div>',
        "each other": '<div id="a" itemscope itemprop="x" itemref="b"></div><div id="b" itemscope itemprop="y" itemref="a"></div>',
        "its parent": '<div id="p"><div itemscope itemtype="https://schema.org/Product" itemref="p"></div></div>',
        "thousands": "".join(
            f'<div id="i{one}" itemscope itemprop="a b" itemref="i{one + 1}"></div>' for one in range(5_000)
        ),
        "one from thousands": '<div itemscope itemref="z"></div>' * 5_000
        + '<p id="z" itemprop="price">5</p>',
        "very many": f'<div itemscope itemref="{" ".join(f"r{one}" for one in range(50_000))}"></div>',
    }
    for name, reference in references.items():
        yield page(f"itemref to {name}", in_item, reference)
        yield page(
            f"itemref to {name} inside of an offer",
            in_item,
            reference.replace('itemprop="x"', 'itemprop="offers"'),
        )
    yield page("the same item 2,000 times", document, ITEM * 2_000)
    yield page(
        "2,000 prices of one item",
        document,
        ITEM.replace("<meta", '<meta itemprop="price" content="5.00">' * 2_000 + "<meta", 1),
    )


def in_item(inside: str) -> str:
    return document(ITEM.replace("<button>", f"{inside}<button>"))


@kind("RDFa")
def rdfa() -> Pages:
    yield page("RDFa", document, RDFA)
    for name in NAMES:
        for number in (12, 1_500):
            opening = f'<div typeof="Thing" property="{name}">'
            yield page(
                f"{name}, {number} deep", document, RDFA.replace("<button>", opening * number + "<button>")
            )
        yield page(
            f"8,000 times {name}",
            document,
            RDFA.replace("<button>", f'<i property="{name}">w</i>' * 8_000 + "<button>"),
        )
    for attribute in ("itemprop", "property", "itemscope", "typeof"):
        text = f'<b {attribute}="offers"></b>' + repeated(f"<p {attribute}>", 900_000)
        yield page(f"900 KB of {attribute}", document, RDFA.replace("<button>", f"{text}<button>"))
    for attribute in ("vocab", "prefix", "about", "resource", "typeof", "property"):
        text = f'<p {attribute}="{repeated("schema: https://schema.org/ ", 100_000)}">x</p>'
        yield page(f"{attribute} of 100 KB", document, RDFA.replace("<button>", f"{text}<button>"))


@kind("meta tags")
def meta_tags() -> Pages:
    for name in ("product:price:amount", "og:price:amount", "product:price:currency", "og:title", "og:locale", "og:availability",
                 "twitter:label1", "twitter:data1", "og:type", "product:sale_price:amount"):  # fmt: skip
        for content in (
            "19.99",
            "EUR",
            "9" * 100_000,
            "",
            "1e400",
            "a" * 100_000,
            "\x00\x1b",
            "instock",
            "price",
        ):
            tag = f'<meta property="{name}" content="{content}">'
            yield page(f"{name} is {content[:12]!r}", document, PRODUCT, tag)
        yield page(f"{name} 10,000 times", in_head, f'<meta property="{name}" content="{{}}.99">', 10_000)
    same = '<meta property="og:price:amount" content="19.99">'
    yield page("og:price the same 10,000 times", in_head, same, 10_000)


def in_head(element: str, number: int) -> str:
    return document(PRODUCT, numbered(element, number * len(element)))


STATES = {
    "Next": ('<script id="__NEXT_DATA__" type="application/json">', "</script>"),
    "Nuxt": ("<script>window.__NUXT__=", ";</script>"),
    "initial state": ("<script>window.__INITIAL_STATE__ = ", "</script>"),
    "data layer": ("<script>dataLayer.push(", ")</script>"),
    "Shopify": ("<script>var meta = ", "; ShopifyAnalytics.meta = {}</script>"),
    "product": ("<script>var product = ", ";</script>"),
}
# The two prices that the page of a state shows.
BOTH = "19.99 EUR, 24.99 EUR"
ENTRY = {"name": "Blue Kettle", "price": "19.99", "currency": "EUR"}


@kind("script state")
def script_state() -> Pages:
    numbers = (
        "1e400",
        "NaN",
        "-Infinity",
        "9" * 100_000,
        "0",
        "-19.99",
        "1999",
        '"1999"',
        "1E5",
        '""',
        "null",
        "[]",
        "{}",
        "true",
        '[{"a":1}]',
    )
    for name, state in STATES.items():
        for number in numbers:
            data = json.dumps(ENTRY).replace('"19.99"', number)
            yield page(f"{name}: price {number[:20]}", with_state, state, data, shows=BOTH)
        for count in (2_000, 12_000):
            yield page(f"{name}: {count} entries", with_entries, state, ENTRY, count, shows=BOTH)
        yield page(f"{name}: 100,000 deep", deep_state, state, 100_000, "", shows=BOTH)
        yield page(f"{name}: 900 deep", deep_state, state, 900, "}" * 900, shows=BOTH)
        yield page(f"{name}: cut off", with_state, state, json.dumps([ENTRY] * 50)[:-9], shows=BOTH)
        yield page(
            f"{name}: a key of 100 KB", with_entries, state, ENTRY, 3_000, "price" + "k" * 100_000, shows=BOTH
        )
        long_name = {**ENTRY, "name": "Blue Kettle " * 33}
        yield page(f"{name}: names of 66 words", with_entries, state, long_name, 2_000, shows=BOTH)
    for piece in (
        "product=",
        "dataLayer=[",
        "__A_STATE__={",
        "meta = [",
        "gtag('event','view_item',{",
        'product={"a":',
        "__",
        "price ",
        "initialState=",
    ):
        yield page(f"100 KB of {piece}", unpriced_script, piece, shows="")
    state = (f'<script type="application/json" id="{"i" * 200_000}">', "</script>")
    yield page("an id of 200 KB", with_entries, state, {**ENTRY, "name": "Other"}, 10_000, shows=BOTH)


def with_state(state: tuple[str, str], data: str) -> str:
    """The state is read where the page itself leaves the price open."""
    return document(
        "<main><h1>Blue Kettle</h1><p>€19.99 or €24.99</p><button>Add to cart</button></main>"
        + state[0]
        + data
        + state[1]
    )


def with_entries(state: tuple[str, str], entry: dict[str, str], number: int, key: str = "entries") -> str:
    return with_state(state, json.dumps({key: [entry] * number}))


def deep_state(state: tuple[str, str], depth: int, end: str) -> str:
    return with_state(state, '{"price":' * depth + "5" + end)


def unpriced_script(piece: str) -> str:
    text = repeated(piece, 100_000) + "price"
    return document(f"<main><h1>Blue Kettle</h1><button>Add to cart</button></main><script>{text}</script>")


@kind("repeated forms")
def repeated_forms() -> Pages:
    elements: dict[str, Any] = {
        "forms": '<form action="/cart/add"><input type=hidden name=price value=5></form>', "buttons": "<button>Add to cart</button>",
        "other buttons": "<button class=btn>More</button>", "links": '<a class="btn" href="/cart">Buy</a>', "inputs": '<input type="hidden" name="price" value="5.00">',
        "tables": "<table><tr><td>a</td></tr></table>", "selects": "<select><option>a</select>", "labels": "<label><input type=checkbox>a</label>",
        "data prices": '<i data-price="5.00"></i>', "ids": '<p id="price">w</p>', "numbered ids": '<p id="a{}">w</p>', "headings": "<h1>Blue Kettle</h1>",
        "other headings": "<h1>Other Thing</h1>", "cards": '<div class="card"><a href="/o"><img alt="Two Words"></a><h3><a href="/o">Two Words</a></h3></div>',
        "empty prices": '<span class="price"></span>', "frames": "<iframe src=/x></iframe>", "areas": "<textarea>a</textarea>", "stock": "<p>In stock</p>",
    }  # fmt: skip
    for name, element in elements.items():
        yield from placed(f"800 KB of {name}", numbered, element, 800_000, places=("after",))
        yield from placed(f"200 KB of {name}", numbered, element, 200_000, places=("alone", "before"))
        yield page(f"200 KB of {name} before the button", before_button, element, shows=PRICE)


def numbered(element: str, size: int) -> str:
    """An element repeated up to a size; braces stand for its number."""
    return "".join(element.replace("{}", str(one)) for one in range(size // len(element)))


def before_button(element: str) -> str:
    return document(PRODUCT.replace("<button>", f"{numbered(element, 200_000)}<p><button>"))
