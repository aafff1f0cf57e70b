"""Pages with very many, very long or very odd numbers and prices."""

from __future__ import annotations

from tests.hostile.corpus.hostile_page import PRICE, PRODUCT, Pages, document, kind, page, repeated

BUTTON = "<button>Add to cart</button>"


def tagged(text: str) -> str:
    """The text as the price of the product."""
    return document(PRODUCT.replace("€19.99", text))


def long_number(start: str, piece: str, size: int, end: str) -> str:
    return tagged(f"{start}{repeated(piece, size)}{end}")


def listed(element: str, number: int) -> str:
    """Elements after the title of the product, with a number from 100 on in place of the braces."""
    many = "".join(element.replace("{}", str(one)) for one in range(100, 100 + number))
    return document(PRODUCT.replace("<button>", f"{many}<button>"))


@kind("long numbers")
def long_numbers() -> Pages:
    pieces = [
        "9",
        "1.",
        "1,",
        "1 ",
        "1'",
        "1.000.",
        "0",
        "0.",
        "9,999 ",
        "€",
        "€1",
        "1€",
        "1-",
        "1/",
        "1e5 ",
        "1:",
        "x1",
        "1%",
        "+1",
        "(1)",
        "1\xa0",
        "½",
    ]
    for piece in pieces:
        # One price, however often it is repeated, is the price; and these pages begin with one.
        shows = "1.00 EUR" if piece in ("€1", "1€", "1'", "1/", "1:") else ""
        for size in (300, 20_000, 900_000):
            yield page(f"{size:,} of {piece!r} after €", long_number, "€", piece, size, "", shows=shows)
        yield page(f"20,000 of {piece!r} before €", long_number, "", piece, 20_000, "€", shows=shows)
        both = f"{PRICE}, {shows}"
        yield page(f"20,000 of {piece!r} after €19.99", long_number, "€19.99 ", piece, 20_000, "", shows=both)


@kind("odd prices")
def odd_prices() -> Pages:
    """Texts in a price tag, with the price that a person reads in them."""
    texts = {
        "€1e400": "", "€1E5": "", "€1e5": "", "€NaN": "", "€Infinity": "", "€-19.99": "", "€0": "", "€0.00": "", "-€19.99": "",
        "€19.99.99": "", "€19,99,99": "", "€1.9.9.9": "", "€19.99 €5.00": "19.99 EUR, 5.00 EUR", "€19.999999999": "", "€ 0x13": "",
        "€19.99%": "", "19.99": PRICE, "€": "", "€€€": "", "€19": "19.00 EUR", "€19.-": "19.00 EUR", "€1 9 . 9 9": "", "€١٩": "19.00 EUR",
        "€99999999999": "", "€0.001": "", "€19.99 - €29.99": "", "from €5.00": "", "€5/month": "", "€5 per kg": "", "2 for €5": "",
        "€19.99 $25.00": "19.99 EUR, 25.00 USD", "$€19.99": PRICE, "€19.99 was €29.99": PRICE, "<del>€29.99</del> €19.99": PRICE,
        "<del>€29.99": "29.99 EUR", "€<span>1</span><span>9.99</span>": PRICE, "€19<sup>99</sup>": PRICE, "€19<sup>9999</sup>": "19.00 EUR",
        "€1<br>9.99": "1.00 EUR, 9.99 EUR", "€19.<b></b>99": PRICE, "<span hidden>€5.00</span>€19.99": PRICE,
        "<span style='display:none'>€5.00</span>€19.99": PRICE, "<i style='display : none'>€5.00</i>€19.99": PRICE,
        "<template>€5.00</template>€19.99": PRICE, "<!--€5.00-->€19.99": PRICE, "<script>€5.00</script>€19.99": PRICE,
        "<noscript>€5.00</noscript>€19.99": PRICE, "€19.99<img alt='€5.00'>": PRICE, "<input value='€5.00'>€19.99": PRICE,
    }  # fmt: skip
    for text, shows in texts.items():
        yield page(text, tagged, text, shows=shows)
        yield page(f"{text} beside the price", beside, text, shows=f"{shows}, {PRICE}")


def beside(text: str) -> str:
    return document(PRODUCT.replace("<button>", f'<div class="price">{text}</div><button>'))


@kind("many prices")
def many_prices() -> Pages:
    elements = {
        "labelled prices": '<span class="price">€{}.50</span>', "plain prices": "<p>€{}.50</p>", "prices in spans": "<span>€{}.50 </span>",
        "bare numbers": "<b>{}</b>", "bare numbers in spans": "<span>{}</span> ", "prices in one line": "€{}.50 ", "struck prices": "<del>€{}.50</del>",
        "prices in cells": "<td>Price<td>€{}.50", "sentences": "<p>It costs € {}.50 in a sentence of several words here.</p>",
        "prices in links": '<a href="/o{}">€{}.50</a>', "ranges": "<p>€{}.50 - €{}.90</p>", "instalments": "<p>€{}.50 / month</p>",
        "percentages": "<p>-{}%</p>", "prices in labels": "<label><input type=checkbox>€{}.50</label>", "price classes": '<i class="old-price">€{}.50</i>',
        "cards": '<div class="card"><a href="/o{}"><img alt="Other Thing {}"></a><b>€{}.50</b></div>', "sale prices": '<b class="sale-price">€{}.50</b>',
        "ten in each": f'<p class="price">{"€{}.50 " * 10}</p>', "prices in options": "<option>€{}.50", "prices with words": "<p>Warranty <b>€{}.50</b></p>",
    }  # fmt: skip
    for name, element in elements.items():
        for number in (40, 400, 8_000):
            # Of very many prices, none may be taken but that of the price tag.
            yield page(f"{number} {name}", listed, element, number, shows=PRICE)
