"""JSON-LD of every broken kind: damaged text, deep and wide values, wrong types, numbers without measure."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice, product
from typing import Any

from tests.hostile.corpus.hostile_page import PRICE, PRODUCT, Pages, document, kind, page, repeated

GOOD = (
    '{"@context":"https://schema.org","@type":"Product","name":"Blue Kettle","offers":{"@type":"Offer","price":'
    '"19.99","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}'
)
OFFER = GOOD.partition('"offers":')[2][:-1]
# A page with a heading and a button only: its price is in the data.
UNPRICED = "<main><h1>Blue Kettle</h1><button>Add to cart</button></main>"
# Values of any type, in place of the one that a property has.
ODD_VALUES: dict[str, Any] = {
    "null": None, "true": True, "an empty list": [], "an empty object": {}, "a nested list": [[[[]]]], "zero": 0,
    "minus one": -1, "a large number": 10**400, "an exponent": 1e300, "an empty text": "", "blanks": " " * 50_000,
    "a long text": "a" * 50_000, "many digits": "9" * 50_000, "a list of itself": [[1], [2], [3]], "markup": "</p><b>1",
    "an object": {"@value": {"@value": {"@value": 1}}}, "a list of objects": [{"name": "a"}, {"name": "b"}] * 500,
    "control characters": "\x00\x1b\ud800\u202e", "a URL": "http://[::1", "a long list": list(range(5_000)),
}  # fmt: skip
PROPERTIES = (
    "@type", "@graph", "name", "url", "sku", "image", "brand", "offers", "hasVariant", "gtin13", "productID", "mainEntity",
    "offers.price", "offers.priceCurrency", "offers.availability", "offers.priceSpecification", "offers.seller", "offers.sku",
    "offers.shippingDetails", "offers.eligibleQuantity", "offers.lowPrice", "offers.offers", "offers.itemCondition",
)  # fmt: skip


def script(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def with_script(text: str, body: str = PRODUCT) -> str:
    return document(body, script(text))


def with_value(place: str, value: Any) -> str:
    data = json.loads(GOOD)
    target = data
    *outer, last = place.split(".")
    for name in outer:
        target = target[name]
    target[last] = value
    return with_script(json.dumps(data).replace("</", "<\\/"))


def with_price(literal: str, body: str = PRODUCT) -> str:
    return with_script(GOOD.replace('"19.99"', literal), body)


def long_text(start: str, piece: str, size: int, end: str = "") -> str:
    return with_script(f"{start}{repeated(piece, size)}{end}")


def nested(opening: str, depth: int, inside: str, closing: str) -> str:
    return with_script(opening * depth + inside + closing * depth)


@kind("JSON-LD values")
def values() -> Pages:
    pairs = product(PROPERTIES, ODD_VALUES.items())
    # Every third pair: each property with a third of the values, and each value at a third of the properties.
    for place, (name, value) in islice(pairs, 0, None, 3):
        yield page(f"{name} as {place}", with_value, place, value)


@kind("JSON-LD prices")
def prices() -> Pages:
    literals = (
        "1e400", "1E5", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "-19.99", "0", "0.00", '"0"', '"-19.99"',
        '"1e5"', '"NaN"', '"Infinity"', "1" * 5_000, f'"{"9" * 900_000}"', "9" * 900_000, f"0.{'1' * 400_000}", "1_000",
        '"1,999"', '"1.999"', '"19.99.99"', '"19,99 EUR USD"', "0x13", '"0x13"', "019.99", "+19.99", ".5", "5.", '"１９"',
        '"19.99 - 29.99"', '"from 5"', "[5, 19.99]", "[[5]]", '{"@value": 5}', '"€5€"', '"five"', '"5 per month"', '"1e2147483648"',
        f"1e{'9' * 5_000}", f'"1e{"9" * 5_000}"', '"99999999999"', '"0.001"', '"\\u0031\\u0039.99"', '"19.99\\u0000"', '"5\\u00a0000"',
    )  # fmt: skip
    for literal in literals:
        # The data says something else than the page, or nothing.
        yield page(f"{literal[:30]} beside a shown price", with_price, literal)
        yield page(
            f"{literal[:30]} without a shown price", with_price, literal, UNPRICED, shows=_readable(literal)
        )


def _readable(literal: str) -> str:
    """The price that a person reads in a literal, where there is one."""
    return {
        "1E5": "100000.00 EUR", '"1e5"': "100000.00 EUR", '"1,999"': "1999.00 EUR", '"1.999"': "1999.00 EUR, 2.00 EUR",
        '{"@value": 5}': "5.00 EUR", "[[5]]": "5.00 EUR", '"€5€"': "5.00 EUR", '"\\u0031\\u0039.99"': PRICE,
        '"19,99 EUR USD"': PRICE,
        '"19.99\\u0000"': PRICE, '"5\\u00a0000"': "5000.00 EUR", '"１９"': "19.00 EUR",
    }.get(literal, "")  # fmt: skip


@kind("JSON-LD text")
def texts() -> Pages:
    """Text that is not JSON, or only just."""
    for share in range(5, 100, 8):
        yield page(f"{share} % of it", with_script, GOOD[: len(GOOD) * share // 100])
    for name, text in {
        "a trailing comma": GOOD.replace("}}", ",}}"), "comments": f"/* a */{GOOD}// b", "CDATA": f"//<![CDATA[\n{GOOD}\n//]]>",
        "an HTML comment": f"<!--{GOOD}-->", "two values": GOOD + GOOD, "entities": GOOD.replace('"', "&quot;"), "semicolons": f"{GOOD};;;",
        "single quotes": GOOD.replace('"', "'"), "a function": f"f({GOOD})", "a BOM": f"\ufeff{GOOD}", "line feeds in text": GOOD.replace(" ", "\n"),
        "duplicate keys": GOOD.replace('"price":', '"price":"1.00","price":'), "10,000 duplicate keys": GOOD.replace('"price":', '"price":"1.00",' * 10_000 + '"price":'),
        "an escape": GOOD.replace("Blue", "\\ud800"), "a broken escape": GOOD.replace("Blue", "\\u12"), "NUL": GOOD.replace("Blue", "\x00"),
        "a closing tag": GOOD.replace("Blue", "</script>"), "a number": "1", "nothing": "", "a text": '"a"', "null": "null",
    }.items():  # fmt: skip
        yield page(name, with_script, text)
    pieces = (
        '\\"', " ", '"', "{", "[", "}", "]", "/*", "//", "/", "<!--", "-->", "\\", "\\u0000", ",", ":", '{"a":', "[1,", "&quot;", "\n", ";",
        "/**/", '"\\', '{"a":1}', "1", "-", "e", "true", "<![CDATA[", "]]>", "/*\\", '"//', "\t", "\ufeff", "0", ".1", '""', '"",',
    )  # fmt: skip
    for piece in pieces:
        yield page(f"60 KB of {piece!r}", long_text, "", piece, 60_000)
        yield page(f"60 KB of {piece!r} after a brace", long_text, '{"a": "', piece, 60_000)
        yield page(f"60 KB of {piece!r} before the data", long_text, "", piece, 60_000, GOOD)
    for piece in (" ", '\\"', '{"a":1}', "9"):
        yield page(f"900 KB of {piece!r}", long_text, "", piece, 900_000)


@kind("JSON-LD depth")
def depth() -> Pages:
    for key in (
        "name",
        "offers",
        "hasVariant",
        "@graph",
        "image",
        "brand",
        "a",
        "mainEntity",
        "url",
        "availability",
        "price",
        "@type",
    ):
        for levels in (30, 480, 100_000):
            opening = f'{{"@type":"Product","name":"Blue Kettle","{key}":'
            yield page(f"{key} {levels} deep", nested, opening, levels, '"x"', "}")
        for levels in (450,):
            yield page(f"lists as {key} {levels} deep", in_product, key, "[" * levels + '"x"' + "]" * levels)
            yield page(f"{key} of offers {levels} deep", in_offer, key, "[" * levels + '"x"' + "]" * levels)
            deep = '{"name":' * levels + '"x"' + "}" * levels
            yield page(f"names as {key} {levels} deep", in_product, key, deep)
            yield page(
                f"offers of offers as {key} {levels} deep",
                in_product,
                key,
                '{"price":"5","offers":' * levels + "{}" + "}" * levels,
            )


def in_product(key: str, value: str) -> str:
    return with_script(GOOD[:-1] + f',"{key}":{value}}}')


def in_offer(key: str, value: str) -> str:
    return with_script(GOOD[:-2] + f',"{key}":{value}}}}}')


@kind("JSON-LD lists")
def lists() -> Pages:
    """Very many products, offers, prices, variants and scripts."""
    other = GOOD.replace("Blue Kettle", "Other Name Here").replace("19.99", "5.00")
    for number in (300, 3_000):
        yield page(f"{number} other products", many_products, other, number)
        yield page(f"{number} times the product", many_products, GOOD, number)
        yield page(f"{number} scripts", scripts, number)
        yield page(f"{number} other offers", many_offers, number)
        yield page(f"{number} times the offer", many_values, in_product, "offers", OFFER, number)
        yield page(f"{number} prices in one offer", many_values, in_offer, "price", "5", number)
        yield page(f"{number} variants", many_values, in_product, "hasVariant", other, number)
        yield page(
            f"{number} specifications", many_values, in_offer, "priceSpecification", '{"price":"5"}', number
        )
        yield page(f"{number} names", many_values, in_product, "name", '"Some Name"', number)
        yield page(f"{number} keys", many_keys, number)
    yield page("100,000 prices in one offer", many_values, in_offer, "price", "5", 100_000)
    yield page("100,000 empty objects", many_values, in_product, "k", "{}", 100_000)
    yield page("a key of 200 KB with 2,000 values", long_key, 200_000, 2_000)
    yield page("2,000 products with a long title", products_with_long_title, 2_000)
    yield page("a URL of 100 KB in 1,000 products", long_links, 1_000)


def many_products(other: str, number: int) -> str:
    return with_script(f"[{','.join([other] * number + [GOOD])}]")


def many_values(inside: Callable[[str, str], str], key: str, value: str, number: int) -> str:
    return inside(key, f"[{','.join([value] * number)}]")


def many_keys(number: int) -> str:
    return in_product("k", json.dumps({f"k{one}": {"a": []} for one in range(number)}))


def scripts(number: int) -> str:
    return document(PRODUCT, script(GOOD) * number)


def many_offers(number: int) -> str:
    rows = [
        {"@type": "Offer", "price": f"{one}.50", "priceCurrency": "EUR", "sku": f"s{one}"}
        for one in range(1, number + 1)
    ]
    return in_product("offers", json.dumps(rows))


def long_key(size: int, number: int) -> str:
    rows = ",".join([GOOD] * number)
    return with_script(f'{{"{"k" * size}":[{rows}]}}')


def products_with_long_title(number: int) -> str:
    rows = ",".join([GOOD] * number)
    return document(PRODUCT, script(f"[{rows}]"), title="Blue Kettle " + "word " * 40_000)


def long_links(number: int) -> str:
    head = f'<link rel="canonical" href="/p/blue-kettle-1234?{"a=1&" * 25_000}">'
    row = GOOD.replace('"name"', f'"url":"/p/{"x" * 100}","name"')
    return document(PRODUCT, head + script(f"[{','.join([row] * number)}]"))
