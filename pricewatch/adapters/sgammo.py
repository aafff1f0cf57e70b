"""sgammo.com: ammunition from a WooCommerce shop, at the price of one unit."""

from __future__ import annotations

import re

from parsel import Selector

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.ammunition import ammunition
from pricewatch.adapters.html_site import HtmlSiteAdapter
from pricewatch.adapters.site_adapter import SiteListing
from pricewatch.items import Card
from pricewatch.parsing.prices.money_text import money_cents, money_ends
from pricewatch.parsing.prices.quantity_tiers import tiers_in, unit_price
from pricewatch.vocabulary import Availability

DESCRIPTION = ".woocommerce-product-details__short-description, .woocommerce-Tabs-panel--description"
# The class by which WooCommerce marks a product's stock.
STOCK = {
    "instock": Availability.IN_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "onbackorder": Availability.BACKORDER,
}
# The classes of an element name its product.
_POST = re.compile(r"\bpost-(\d+)\b")


class SgammoAdapter(HtmlSiteAdapter):
    id = "sgammo"
    version = "1.2.0"
    domain = "sgammo.com"
    currency = "USD"
    overview_mark = "ul.products"
    product_mark = "div.summary"
    searches = ("/product-category/{category}/", "/?s={keyword}&post_type=product")
    pages = "page/{page}/"
    card_box = "ul.products li.product"
    cards_box = "ul.products"
    next_link = "a.next.page-numbers[href]"
    notices = "h1, .woocommerce-info"
    prices_of_others = "li.product .price"
    reads_json_ld = True

    def card_in(self, box: Selector, url: str) -> Card:
        title, classes = page.only(page.shown(box, "h2, h3")), box.attrib.get("class", "")
        return Card(
            url=page.link_to(url, page.first_of(box, "a::attr(href)")),
            title=title,
            price_cents=money_cents(_price(box, ".price"), self.currency),
            availability=next((state for word, state in STOCK.items() if word in classes.split()), None),
            product_id=page.part_of(_POST, classes),
            attributes=ammunition(title, ""),
        )

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        box = document.css("div.summary")
        if len(box) != 1:
            return None
        title, shown = page.only(page.shown(box, "h1.product_title")), _price(box, "p.price")
        tiers = tiers_in(page.words_of(box[0]), self.currency)
        price, is_sure = unit_price(tiers, money_ends(shown, self.currency))
        card = Card(
            url=url,
            title=title,
            price_cents=price,
            availability=page.stock_shown(box, ".stock", "button.single_add_to_cart_button"),
            product_id=page.part_of(_POST, page.first_of(document, "div.product::attr(class)")),
            sku=page.only(page.shown(box, ".sku")),
            attributes=ammunition(title, " ".join(page.shown(document, DESCRIPTION))),
        )
        doubt = "" if is_sure else f"tiers {sorted(tiers)} beside {shown or 'no other price'}"
        return SiteListing(card=card, doubt=doubt, shown_price=shown)


def _price(box: page.Box, css: str) -> str:
    # A price inside another leaves open whose it is.
    return "" if box.css(f"{css} .price") else page.price_now(box, css)
