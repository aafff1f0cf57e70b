"""Pages whose markup is deep, wide, broken or long."""

from __future__ import annotations

from tests.hostile.corpus.hostile_page import PRICE, PRODUCT, Pages, document, kind, page, placed, repeated

ENDS = ("alone", "after")
DEEP_TAGS = [
    "div",
    "span",
    "b",
    "font",
    "table",
    "td",
    "ul",
    "li",
    "blockquote",
    "form",
    "label",
    "button",
    "a",
    "h1",
    "h2",
    "dl",
    "dd",
    "section",
    "article",
    "select",
    "option",
    "fieldset",
    "iframe",
    "object",
    "svg",
    "math",
    "template",
    "noscript",
    "p",
    "center",
    "del",
    "ins",
    "nav",
    "title",
    "body",
    "frameset",
]
# Names of classes that the reader looks at.
CUES = (
    "price", "btn", "title", "product-card", "old-price", "add-to-cart", "name", "hidden", "price-from",
    "related", "monthly", "stock",
)  # fmt: skip
UNCLOSED = (
    "<div", "<div class", "<div class=", '<div class="', "<!--", "<!-", "<![CDATA[", "<script>", "<style>",
    "<title>", "<textarea>", '<a href="', "<plaintext>", "<xmp>", "<?php", "<!doctype", "</", "<", ">", "&",
    "&#", "&#x110000;", "&#xD800;", "&#0;", "&notin", "<select><option>", "<noscript>", "<template>",
    "<svg><![CDATA[", "<math><mi>", "<frameset>", "<iframe srcdoc='", "<title><h1>", "</html>", "</body><body>",
    '"', "<script><!--<script>", "<style></styl", "<a b='", "<h1>", "<main>", "<del>", "<button>",
)  # fmt: skip


# Attributes that a search for tags might miss: their separator, the tag, and their value.
FLOODS = {
    "long tag name": (" ", "p" * 200),
    "without spaces": ("", "p", '=">"'),
    "slashes": ("/", "p"),
    "a quote in a name": (" ", 'p q" z=">"'),
    "tags in values": (" ", "p", '="<a <a <a"'),
    "NUL in the tag": (" ", "p\0"),
}


def nested(opening: str, depth: int, inside: str = "x", closing: str = "") -> str:
    return opening * depth + inside + closing * depth


def around(opening: str, depth: int, closing: str) -> str:
    return document(nested(opening, depth, PRODUCT, closing))


@kind("deep")
def deep() -> Pages:
    for tag in DEEP_TAGS:
        yield from placed(f"{tag} 10,000 deep", nested, f"<{tag}>", 10_000, places=("alone", "after"))
        yield page(f"the product in {tag} 1,500 deep", around, f"<{tag}>", 1_500, f"</{tag}>")
    for cue in CUES:
        opening = f'<div class="{cue}">'
        yield from placed(f"class {cue} 2,000 deep", nested, opening, 2_000, "word " * 20_000, places=ENDS)
    yield from placed("nested tables 10,000 deep", nested, "<table><tr><td>", 10_000)


@kind("deep and wide")
def deep_and_wide() -> Pages:
    """As many elements as 1 MB holds, each in as many others as the parser allows."""
    openings = ("<div>", "<span class=price>", "<label>", "<button class=btn>", "<h1>", "<h2>", "<div class=title>",
                "<i itemprop=price>", "<div class=card>", "<li>", "<form action=/cart/add>", "<noscript>")  # fmt: skip
    for opening in openings:
        for inside in ("<i></i>", "<b>1</b>", "<a href=/o>A word</a>"):
            yield from placed(
                f"1,500 times {opening}, then 700 KB of {inside}", bottom, opening, inside, places=("alone",)
            )
        yield from placed(
            f"1,500 times {opening}, then prices", bottom, opening, "<b>€5</b>", places=("after",)
        )


def bottom(opening: str, inside: str) -> str:
    return nested(opening, 1_500, repeated(inside, 700_000))


def siblings(element: str, number: int, wrapper: str = "div") -> str:
    return f"<{wrapper}>{element * number}</{wrapper}>"


@kind("wide")
def wide() -> Pages:
    elements = (
        "<b>1</b>", "<span>12</span>", '<span class="price"></span>', '<a href="/x">link</a>', "<br>", "<p>text",
        "<img src=/x.png alt='a b c'>", "<h1>Head</h1>", "<h2>Head line</h2>", "<li>item", "<hr>word",
        '<div class="title">Other Name</div>', '<div class="name"><a href=/o><img alt="Two Words"></a></div>',
        "<dt>a<dd>b", "<tr><td>1<td>2", "<i></i>7", "<del></del>", "<sup>9</sup>", "<script></script>t",
        "<!-- c -->t", "<style></style>", "<meta name=a content=b>", "<link rel=canonical href=/p>",
        "<noscript>n</noscript>", '<span itemprop="name">n</span>', "<label><input type=checkbox></label>",
        "<h3><a href=/other>Another thing</a></h3>", "<svg></svg>", "<option>1", "<p>In stock</p>",
    )  # fmt: skip
    for element in elements:
        yield from placed(f"20,000 times {element}", siblings, element, 20_000, places=("before", "after"))
        yield from placed(
            f"8,000 times {element} in a span", siblings, element, 8_000, "span", places=("alone",)
        )
    for element in elements[:8]:
        yield from placed(f"1,400 levels, then 9,000 times {element}", wide_at_the_bottom, element)


def wide_at_the_bottom(element: str) -> str:
    return nested("<div>", 1_400, element * 9_000, "</div>")


@kind("unclosed")
def unclosed() -> Pages:
    for piece in UNCLOSED:
        yield from placed(f"one {piece}", repeated, piece, 1, places=("before", "after"))
        yield from placed(f"100 KB of {piece}", repeated, piece, 100_000, places=("before", "after"))


@kind("long lines")
def long_lines() -> Pages:
    for name, text in {
        "letters": "a", "words": "word ", "blanks": " ", "line feeds": "\n", "digits": "7", "quotes": "\"'",
        "brackets": "([{", "commas": ",", "points": ".", "no-break spaces": "\xa0", "dashes": "-", "slashes": "/\\",
        "euro signs": "€", "currency words": "EUR USD ", "percent": "5% ", "zero-width": "\u200b", "emoji": "👩‍👩‍👧‍👦",
        "accents": "a\u0301\u0302\u0303", "capital dotted i": "İ", "ligatures": "ﬁﷺ", "apostrophes": "’", "colons": "a: ",
    }.items():  # fmt: skip
        yield from placed(f"900 KB of {name}", paragraph, text, 900_000, places=("after",))
        yield from placed(f"200 KB of {name}", paragraph, text, 200_000, places=("alone", "before"))
        yield page(f"a title of 100 KB of {name}", long_title, text, shows=PRICE)
    yield page("10 MB of text", document, PRODUCT + repeated("some words of text ", 10_000_000))
    yield page("5 MB of paragraphs", document, PRODUCT + repeated("<p>some words of text", 5_000_000))
    yield page("3 MB of elements", document, PRODUCT + repeated("<b></b>", 3_000_000))


def paragraph(text: str, size: int) -> str:
    return f"<p>{repeated(text, size)}</p>"


def long_title(text: str) -> str:
    """The same long text as title, heading and meta tag."""
    long = repeated(text, 100_000)
    head = f'<meta property="og:title" content="{long.replace(chr(34), "")}">'
    return document(PRODUCT.replace("Blue Kettle", long), head, title=long)


@kind("attributes")
def attributes() -> Pages:
    names = ("class", "id", "style", "href", "alt", "title", "value", "name", "content", "onclick", "data-price",
             "aria-label", "itemprop", "type", "role", "action", "rel", "lang", "srcdoc")  # fmt: skip
    values = {
        "100,000 classes": "price old-9 ",
        "one word": "a",
        "digits": "9",
        "capitals": "aB",
        "dashes": "a-",
    }
    for name in names:
        yield from placed(
            f"{name} of 200 KB on many", long_attribute, name, "price x", 200_000, places=("before",)
        )
    for called, value in values.items():
        for name in ("class", "id", "style"):
            yield from placed(
                f"{name} of {called}", long_attribute, name, value, 1_000_000, places=("after",)
            )
        yield page(f"{called} in the class of the product", long_class, value)
    yield from placed("40,000 attributes", many_attributes, 40_000, is_flood=True)
    for called, written in FLOODS.items():
        yield from placed(f"25,000 attributes, {called}", flood, *written, places=("after",), is_flood=True)
    for element in (
        "<h2></h2><h3></h3>",
        "<p class=name><p itemprop=name>",
        "<p data-price><p data-price-amount>",
    ):
        yield from placed(f"only {element}", repeated, element, 900_000, places=("alone", "after"))
    yield from placed("one attribute 40,000 times", repeated, "<p class=a ", 400_000, is_flood=True)
    yield from placed("1 KB of other classes on 600 elements", distinct_classes, 600)


def long_attribute(name: str, value: str, size: int) -> str:
    text = repeated(value, size // 4)
    tags = ("div", "a", "button", "input")
    return "".join(f'<{tag} {name}="{text}">word</{tag}>' for tag in tags)


def long_class(value: str) -> str:
    names = repeated(value, 300_000)
    return document(
        PRODUCT.replace("product-price", f"product-price {names}").replace("<button", f'<button id="{names}"')
    )


def many_attributes(number: int) -> str:
    return f"<div {' '.join(f'a{index}=1' for index in range(number))}>x</div>"


def flood(separator: str, tag: str = "p", value: str = "") -> str:
    return f"<{tag} {separator.join(f'{index:x}{value}' for index in range(25_000))}>"


def distinct_classes(number: int) -> str:
    return "".join(f'<p class="{f"c{index} " * 200}">w</p>' for index in range(number))


@kind("islands")
def islands() -> Pages:
    for island in (
        "svg",
        "math",
        "template",
        "noscript",
        "iframe",
        "object",
        "xmp",
        "textarea",
        "select",
        "noframes",
    ):
        product = PRODUCT.replace("19.99", "5.00")
        # In a browser, HTML elements end an SVG image or a formula, and an object without data shows its content.
        shows = f"5.00 EUR, {PRICE}" if island in ("svg", "math", "object") else PRICE
        yield page(
            f"another product in {island}", document, f"<{island}>{product}</{island}>{PRODUCT}", shows=shows
        )
        yield page(
            f"{island} after the title", document, PRODUCT.replace("<div", f"<{island}>€3</{island}><div")
        )
        yield from placed(f"3,000 times {island}", repeated, f"<{island}><p>w</p></{island}>", 90_000)
    yield page("frames", document, "<frameset><frame src=/a><frame src=/b></frameset>", shows="")
    for base in (
        "//other.example/",
        "javascript:1",
        "data:text/html,x",
        "http://[",
        "\\\\x",
        "h" * 100_000,
        "",
    ):
        yield page(
            f"base {base[:20]}", document, PRODUCT, f'<base href="{base}"><link rel=canonical href="{base}">'
        )
