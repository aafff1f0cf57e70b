"""What the rendered pages of jp.mercari.com show, in the words of the data that they are made from."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.parsing.gone import Departure, departure_in

SITE = "https://jp.mercari.com/"
SOLD = ("sold", "売り切れ")
BUY = ("購入", "buy")
_PRICE = ".merPrice, [data-testid=price]"
_ID = re.compile(r"/(?:item|shops/product)/([\w-]+)", re.ASCII)
_ALT_ENDING = re.compile(r"の(?:サムネイル|画像)$")
_LONGEST_NOTICE = 200


def items_shown(response: TextResponse) -> tuple[list[dict[str, Any]], bool]:
    """The items of a result page, and whether there is a button to the next."""
    document = page.whole_document(response)
    cells = document.css("[data-testid=item-cell]")
    # A cell inside another leaves open whose price is whose.
    items = [_cell(cell) if not cell.css("* [data-testid=item-cell]") else {} for cell in cells]
    return items, bool(document.css("[data-testid=pagination-next-button]"))


def item_shown(response: TextResponse) -> dict[str, Any]:
    """The item of an item page; `gone` has the words by which the page says that there is none."""
    document = page.whole_document(response)
    words = page.shown(document, "main h1, main h2, main p") if document.css("main") else []
    notices = [text for text in words if len(text) <= _LONGEST_NOTICE and (said := departure_in(text))
               and said.departure is Departure.GONE]  # fmt: skip
    name = page.only(page.shown(document, "h1"))
    shown = page.price_shown(document, "main [data-testid=price]")
    prices = {page.money_cents(shown, "JPY")} if shown else set()
    amounts = document.css("meta[property='product:price:amount']::attr(content)").getall()
    prices |= {page.machine_cents(amount, "JPY") for amount in amounts}
    button = " ".join(page.shown(document, "main [data-testid=checkout-button]")).lower()
    return {
        "id": asked[1] if (asked := _ID.search(response.url)) else "",
        "name": name if prices or button else "",
        "price": prices.pop() if len(prices) == 1 else None,
        "status": "sold_out" if _says(button, SOLD) else "on_sale" if _says(button, BUY) else "",
        "gone": notices[0] if notices and not prices else "",
    }


def _cell(cell: Selector) -> dict[str, Any]:
    links = set(cell.css("a[href*='/item/'], a[href*='/shops/product/']").xpath("@href").getall())
    link = _ID.search(links.pop()) if len(links) == 1 else None
    name = _ALT_ENDING.sub("", cell.css("img::attr(alt)").get() or "")
    stickers = cell.css("[data-testid*=sticker]").xpath("@aria-label | .//@alt | .//text()").getall()
    return {
        "id": link[1] if link else "",
        "name": page.only(page.shown(cell, "[data-testid=thumbnail-item-name]")) or name,
        "price": page.money_cents(page.price_shown(cell, _PRICE), "JPY"),
        "status": "sold_out" if _says(" ".join(stickers).lower(), SOLD) else "on_sale",
        "thumbnails": cell.css("img::attr(src)").getall()[:1],
    }


def _says(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def site_of(url: str) -> str:
    """Where people see the items; the data comes from a host of its own."""
    return SITE if (urlsplit(url).hostname or "").startswith("api.") else url
