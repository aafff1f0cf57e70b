"""The markup that shops on WooCommerce share: the price of one unit, its tiers, and its stock."""

from __future__ import annotations

import re
from typing import TypeAlias

from parsel import Selector, SelectorList

from pricewatch.adapters import site_page as page
from pricewatch.items import Availability
from pricewatch.parsing.availability import is_buy_button, text_availability

Box: TypeAlias = Selector | SelectorList[Selector]

_TIER = re.compile(
    r"(?<![\d$.,-])(\d{1,5})\s*(?:[-–]\s*\d{1,5}\s*:?|\+\s*:?|:)\s*"
    r"(\$(?:\d{1,3}(?:,\d{3})+|\d{1,6})\.\d{2})(?![\d.])"
)
# What stands neither in the crossed-out price nor in its successor, nor repeats them for those who listen.
_BESIDE_BOTH = (
    ".//text()[not(ancestor::del or ancestor::ins or ancestor::*[contains(@class, 'screen-reader-text')])]"
)
_DIGIT = re.compile(r"\d")
_POST = re.compile(r"\b(?:post|product)-(\d+)\b")


def post_id(product: Box) -> str | None:
    """The product's id, which its element carries as `post-12` or `product-12`."""
    match = _POST.search(f"{product.attrib.get('id', '')} {product.attrib.get('class', '')}")
    return match[1] if match else None


def shown_price(box: Box, css: str) -> str:
    """What is to be paid now: beside a crossed-out price, only what is marked as its successor."""
    if len(page.shown(box, css)) > 1 or box.css(f"{css} .price"):
        return ""
    is_reduced = box.css(f"{css} del") or box.css(f"{css} ins")
    if is_reduced and any(_DIGIT.search(text) for text in box.css(css).xpath(_BESIDE_BOTH).getall()):
        return ""
    return page.price_shown(box, f"{css} ins" if is_reduced else css)


def unit_price(box: SelectorList[Selector], currency: str) -> tuple[int | None, str]:
    """The price of one unit, and why not to trust it: tiers and the price beside them have to agree."""
    text = shown_price(box, "p.price")
    beside = page.money_ends(text, currency)
    words = " ".join(page.words_of(one) for one in box)
    tiers = {(int(first), page.money_cents(price, currency) or 0) for first, price in _TIER.findall(words)}
    of_one = {price for first, price in tiers if first == 1}
    if not of_one and len(tiers) > 1:
        # Where all tiers cost the same, one unit does too.
        of_one = {price for _, price in tiers}
    dearest = max((other for _, other in tiers), default=0)
    why = f"tiers {sorted(tiers)} beside {text or 'no other price'}"
    if len(of_one) != 1:
        price = beside[0] if len(beside) == 1 else None
        return price, why if price and price < dearest else ""
    price = of_one.pop()
    # One unit is never cheaper than several, and a range of prices ends with it.
    disagrees = price != dearest or (beside and price != beside[-1])
    return price, why if disagrees else ""


def availability(box: Box) -> Availability:
    """What the stock line says; without one, a button that puts the product into the cart."""
    said = {text_availability(text) for text in page.shown(box, ".stock")}
    if said:
        return said.pop() if len(said) == 1 else Availability.UNKNOWN
    can_buy = any(is_buy_button(text) for text in page.shown(box, "button.single_add_to_cart_button"))
    return Availability.IN_STOCK if can_buy else Availability.UNKNOWN
