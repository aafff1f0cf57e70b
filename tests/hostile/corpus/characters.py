"""Pages with unusual characters: control characters, byte order marks, lookalike digits, entities."""

from __future__ import annotations

from tests.hostile.corpus.hostile_page import HTML, PRICE, PRODUCT, Pages, document, kind, page, placed
from tests.hostile.corpus.json_ld import GOOD, script

# Characters that stand inside of a price, a title, a tag or an attribute.
INSERTED = {
    "NUL": "\x00", "escape": "\x1b", "backspace": "\x08", "delete": "\x7f", "C1": "\x9b", "BOM": "\ufeff",
    "right-to-left override": "\u202e", "isolate": "\u2066", "zero-width space": "\u200b", "soft hyphen": "\xad",
    "line separator": "\u2028", "surrogate": "\ud800", "non-character": "\uffff", "private": "\ue000",
    "combining": "\u0338\u20dd", "tag characters": "\U000e0031", "object replacement": "\ufffc", "variation": "\ufe0f",
    "joiner": "\u2060", "next line": "\x85", "vertical tab": "\x0b", "form feed": "\x0c", "carriage return": "\r",
}  # fmt: skip
# Digits that are not 0 to 9, and signs that look like a point or a comma.
LOOKALIKES = {
    "fullwidth": "１９．９９", "Arabic": "١٩٫٩٩", "Persian": "۱۹٫۹۹", "Devanagari": "१९.९९", "Bengali": "১৯.৯৯",
    "mathematical": "𝟏𝟗.𝟗𝟗", "superscript": "¹⁹·⁹⁹", "circled": "①⑨.⑨⑨", "Roman": "ⅩⅨ.99", "Thai": "๑๙.๙๙",
    "letter O": "19.O9", "letter l": "l9.99", "fraction": "19½", "Chinese": "十九", "Greek comma": "19\u037e99",
    "middle dot": "19·99", "Arabic comma": "19\u060c99", "one dot leader": "19\u202499", "minus": "−19.99",
    "subscript": "₁₉.₉₉", "negative circled": "❶❾.99", "parenthesized": "⑴⑼.99", "segmented": "🯱🯹.99",
}  # fmt: skip
# Places of names, which are compared without their accents.
NAMES = {
    "JSON-LD": script(GOOD.replace("Blue Kettle", "NAME")),
    "the name of the site": '<meta property="og:site_name" content="NAME">',
    "the title of the page for others": '<meta property="og:title" content="NAME">',
    "the title of a link": '<div class="card"><a href="/p/2" title="NAME">Red Pot</a> <span class="price">€5.00</span></div>',
    "the text of an image": '<div class="card"><a href="/p/2"><img alt="NAME" src="/2.png"></a> <span class="price">€5.00</span></div>',
    "a heading": "<h1>NAME</h1>",
    "a button": "<button>NAME</button>",
    "a class": '<p class="NAME">€5.00</p>',
}
# Entities between the two parts of 19.99, with what a page shows then; most separate them, some are invisible.
ENTITIES = {
    **dict.fromkeys(
        ("&nbsp;", "&#8364;", "&euro;", "&Tab;", "&NewLine;", "&comma;", "&period;"), f"{PRICE}, 19.00 EUR"
    ),
    **dict.fromkeys(("&zwj;", "&shy;", "&lrm;"), "1999.00 EUR"),
    "&#48;": "19099.00 EUR",
}


@kind("characters")
def characters() -> Pages:
    for name, inserted in INSERTED.items():
        # A break inside of a number must not give another number.
        yield page(f"{name} in the price", document, PRODUCT.replace("19.99", f"1{inserted}9.99"))
        yield page(f"{name} before the cents", document, PRODUCT.replace("19.99", f"19.{inserted}99"))
        yield page(f"{name} in the markup", document, PRODUCT.replace("<div ", f"<div{inserted} "))
        yield page(f"{name} in the title", document, PRODUCT.replace("Kettle", f"Ket{inserted}tle"))
        yield from placed(f"50,000 times {name}", times, inserted, 50_000, places=("before",))
    for name, place in NAMES.items():
        # Python sorts the marks of one character in quadratic time.
        yield page(f"marks above and below in {name}", marked, place, shows=PRICE)
    for name, digits in LOOKALIKES.items():
        # A person may read most of these as 19.99; none of them is anything else.
        yield page(f"{name} digits", document, PRODUCT.replace("19.99", digits))
        yield page(
            f"{name} digits beside the price", document, PRODUCT.replace("</div>", f"</div><p>€{digits}</p>")
        )
    for entity, shows in ENTITIES.items():
        yield page(f"{entity} in the price", document, PRODUCT.replace("19.99", f"19{entity}99"), shows=shows)
        yield from placed(f"30,000 times {entity}", times, entity, 30_000, places=("before",))


def marked(place: str) -> str:
    name = "Blue Kettle " + "\u0301" * 60_000 + "\u0316" * 60_000
    fragment = place.replace("NAME", name)
    return document(PRODUCT + ("" if "<meta" in place else fragment), fragment if "<meta" in place else "")


def times(text: str, number: int) -> str:
    return f"<p>{text * number}</p>"


@kind("doctypes")
def doctypes() -> Pages:
    """Entities that expand, in pages that claim to be XML."""
    laughs = "".join(f'<!ENTITY l{index} "{f"&l{index - 1};" * 10}">' for index in range(1, 10))
    declarations = {
        "a billion laughs": f'<!ENTITY l0 "lol">{laughs}',
        "a quadratic entity": f'<!ENTITY l9 "{"a" * 50_000}">',
        "an external entity": '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        "a remote entity": '<!ENTITY l9 SYSTEM "http://127.0.0.1:1/x">',
        "a parameter entity": '<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;',
        "a recursive entity": '<!ENTITY l9 "&l8;"><!ENTITY l8 "&l9;">',
        "an entity with a price": '<!ENTITY l9 "€1.00">',
    }
    types = (
        "text/html",
        "application/xhtml+xml",
        "text/xml",
        "application/rss+xml",
        "application/octet-stream",
    )
    for name, declaration in declarations.items():
        for media_type in types:
            headers = {"Content-Type": media_type}
            yield page(f"{name} in {media_type}", expanding, declaration, headers=headers)
    for prefix in (
        "",
        "\ufeff",
        " \n",
        "<?xml version='1.0' encoding='utf-7'?>",
        "<?xml version='9' standalone='yes'?>",
    ):
        for media_type in ("application/xhtml+xml", "image/svg+xml", "text/plain", "application/json", ""):
            headers = {"Content-Type": media_type}
            yield page(f"{media_type or 'no type'} after {prefix!r}", prefixed, prefix, headers=headers)


def expanding(declaration: str) -> str:
    """An entity in the heading and thousands of times in the body."""
    product = PRODUCT.replace("Kettle", "Kettle &l9;")
    start = f'<?xml version="1.0"?><!DOCTYPE html [{declaration}]><html xmlns="http://www.w3.org/1999/xhtml">'
    return f"{start}<head><title>Blue Kettle</title></head><body>{product}{'&l9;' * 5_000}</body></html>"


def prefixed(prefix: str) -> str:
    return prefix + document(PRODUCT)


@kind("polyglots")
def polyglots() -> Pages:
    """Pages that begin like a file of another type, or are announced as one."""
    starts = {
        "PDF": b"%PDF-1.7\n", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF89a/*", "ZIP": b"PK\x03\x04", "JPEG": b"\xff\xd8\xff\xe0",
        "gzip": b"\x1f\x8b\x08", "JSON": b'{"a":"', "JavaScript": b"/*", "RTF": b"{\\rtf1", "ELF": b"\x7fELF", "BMP": b"BM",
        "MP3": b"ID3", "RIFF": b"RIFF1234WEBP", "a shell": b"#!/bin/sh\n", "an email": b"MIME-Version: 1.0\r\n\r\n",
    }  # fmt: skip
    for name, start in starts.items():
        for media_type in ("text/html", "", f"application/{name.lower()}"):
            headers = {"Content-Type": media_type}
            yield page(f"{name} as {media_type or 'no type'}", beginning, start, headers=headers)
    for header in (
        "text/html; charset=",
        "text/html;;;",
        "TEXT/HTML",
        "text/html\x00",
        ";",
        "text/html, image/png",
        "a" * 60_000,
    ):
        yield page(f"type {header[:24]!r}", document, PRODUCT, headers={"Content-Type": header})
    for disposition in (
        'attachment; filename="a.pdf"',
        "inline; filename=" + "a" * 60_000,
        "attachment; filename*=UTF-8''%ff",
    ):
        yield page(disposition[:30], document, PRODUCT, headers={"Content-Disposition": disposition})
    for length in ("0", "7", "99999999999", "-1", "x", "1, 2"):
        yield page(f"Content-Length {length}", document, PRODUCT, headers={**HTML, "Content-Length": length})


def beginning(start: bytes) -> bytes:
    return start + document(PRODUCT).encode()


@kind("meta refresh")
def meta_refresh() -> Pages:
    contents = {
        "to itself": "0;url=/p/blue-kettle-1234", "elsewhere": "0;url=https://other.example/", "script": "0;url=javascript:x",
        "private": "0;url=http://127.0.0.1/", "no address": "0", "huge seconds": f"{'9' * 5_000};url=/x",
        "exponent": "1e400;url=/x", "negative": "-1;url=/x", "long": f"0;url=/{'a' * 3_000}", "broken": "0;url='",
        "IDN": "0;url=http://\u2603.\U0001f4a9/", "brackets": "0;url=http://[::1", "port": "0;url=http://a:99999999/", "NaN": "NaN;url=/x",
    }  # fmt: skip
    for name, content in contents.items():
        yield page(name, document, PRODUCT, f'<meta http-equiv="refresh" content="{content}">')
    for piece in (
        "<meta ",
        "<meta http-equiv=refresh ",
        "<noscript>",
        "<!--",
        "<script>",
        "<meta http-equiv=refresh content='0;url=/'",
        "refresh =",
    ):
        yield from placed(f"16 KB of {piece}", refreshing, piece, places=("head",))


def refreshing(piece: str) -> str:
    return f"<!-- refresh -->{piece * (16_000 // len(piece))}"
