"""The common parts of all pages: head, navigation, banner, footer, and padding."""

from functools import lru_cache
from html import escape

from pricewatch.bazaar.catalogue import slug
from pricewatch.bazaar.word_tables import CATEGORIES, HELP_TOPICS

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:72rem;color:#222}"
    "nav a{margin-right:1rem}.banner{background:#fde68a;padding:.4rem 1rem}"
    ".card{display:inline-block;width:15rem;padding:.6rem;vertical-align:top;border-bottom:1px solid #ddd}"
    ".card img,.gallery img{width:100%;aspect-ratio:4/3;background:#eee}.price,.card-price{font-weight:700}"
    "s{color:#888}.sticker{background:#b91c1c;color:#fff;padding:0 .4rem}footer{font-size:.8rem;color:#555}"
)
NAVIGATION = "".join(f'<a href="/c/{category.name}">{category.label}</a>' for category in CATEGORIES)
# Amounts that are not prices of listings: a parser must ignore them.
BANNER = '<p class="banner">Free shipping on orders over € 49,00 · Save € 10,00 with code HALLO10</p>'
GIFT_CARDS = '<p class="gift">Gift cards from € 25,00</p>'
LARGE_STEP = 2**16
SMALLEST_COMMENT = len("<!--  -->")
END = b"</ul></footer></body></html>\n"
ALTERNATIVE_LAYOUT = (
    (b"<article ", b"<li "),
    (b"</article>", b"</li>"),
    (b' class="card', b' class="tile'),
    (b' class="item-title"', b' class="product-name"'),
    (b' class="item-price"', b' class="product-price"'),
    (b' class="price"', b' class="amount"'),
)


def page(title: str, body: str, head: str = "") -> bytes:
    """Return a whole page; `padded` can enlarge it."""
    return (
        '<!doctype html>\n<html lang="de"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{escape(title)} | Bazaar</title><link rel="icon" href="/static/icon.png">{head}'
        f'<style>{STYLE}</style></head><body><header><a class="logo" href="/">Bazaar</a>'
        f"<nav>{NAVIGATION}</nav></header>\n{body}\n"
        f'<footer>{GIFT_CARDS}<ul class="help">'
    ).encode() + END


def alternative(html: bytes) -> bytes:
    """Return the page in the alternative layout: same content, other elements and classes."""
    for one, another in ALTERNATIVE_LAYOUT:
        html = html.replace(one, another)
    return html


def padded(html: bytes, size: int) -> bytes:
    """Enlarge a page to `size` bytes with footer links, because real pages are mostly boilerplate."""
    missing = size - len(html)
    if missing <= 0:
        return html
    return html[: -len(END)] + _filler(missing) + END


def _filler(size: int) -> bytes:
    """Return exactly `size` bytes: as many links as fit, and a comment for the rest."""
    links = _links(1 + size // LARGE_STEP)
    cut = links.rfind(b"\n", 0, max(0, size - SMALLEST_COMMENT)) + 1
    left = size - cut
    comment = (
        b"<!-- " + b"." * (left - SMALLEST_COMMENT) + b" -->" if left >= SMALLEST_COMMENT else b" " * left
    )
    return links[:cut] + comment


@lru_cache(maxsize=8)
def _links(steps: int) -> bytes:
    """Return at least `steps` times LARGE_STEP bytes of links, one per line."""
    rows: list[bytes] = []
    made, number = 0, 0
    while made < steps * LARGE_STEP:
        topic = HELP_TOPICS[number % len(HELP_TOPICS)]
        row = (
            f'<li class="help-link"><a href="/help/{slug(topic)}?entry={number}">{topic}</a></li>\n'.encode()
        )
        rows.append(row)
        made += len(row)
        number += 1
    return b"".join(rows)
