"""sgammo.com: ammunition from a WooCommerce shop, at the price of a single unit."""

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
# CSS classes of WooCommerce for the stock of a product.
STOCK = {
    "instock": Availability.IN_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "onbackorder": Availability.BACKORDER,
}
# WooCommerce puts the product id into the class attribute.
_POST_ID = re.compile(r"\bpost-(\d+)\b")


class SgammoAdapter(HtmlSiteAdapter):
    id = "sgammo"
    version = "1.2.0"
    domain = "sgammo.com"
    currency = "USD"
    overview_marker = "ul.products"
    product_marker = "div.summary"
    search_urls = ("/product-category/{category}/", "/?s={keyword}&post_type=product")
    pages = "page/{page}/"
    card_box = "ul.products li.product"
    cards_container = "ul.products"
    next_link = "a.next.page-numbers[href]"
    notices = "h1, .woocommerce-info"
    prices_of_others = "li.product .price"
    reads_json_ld = True

    def card_in(self, box: Selector, url: str) -> Card:
        title, classes = page.single_text(box, "h2, h3"), box.attrib.get("class", "")
        return Card(
            url=page.absolute_link(url, page.first_match(box, "a::attr(href)")),
            title=title,
            price_cents=money_cents(_price_text(box, ".price"), self.currency),
            availability=next((state for name, state in STOCK.items() if name in classes.split()), None),
            product_id=page.pattern_match(_POST_ID, classes),
            attributes=ammunition(title, ""),
        )

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        box = document.css("div.summary")
        if len(box) != 1:
            return None
        title, price_text = page.single_text(box, "h1.product_title"), _price_text(box, "p.price")
        tiers = tiers_in(page.element_text(box[0]), self.currency)
        price, is_sure = unit_price(tiers, money_ends(price_text, self.currency))
        card = Card(
            url=url,
            title=title,
            price_cents=price,
            availability=page.visible_availability(box, ".stock", "button.single_add_to_cart_button"),
            product_id=page.pattern_match(_POST_ID, page.first_match(document, "div.product::attr(class)")),
            sku=page.single_text(box, ".sku"),
            attributes=ammunition(title, " ".join(page.visible_texts(document, DESCRIPTION))),
        )
        ambiguity = "" if is_sure else f"tiers {sorted(tiers)} next to {price_text or 'no other price'}"
        return SiteListing(card=card, ambiguity=ambiguity, price_text=price_text)


def _price_text(box: page.Box, css: str) -> str:
    # With nested price elements it is unclear which price counts.
    return "" if box.css(f"{css} .price") else page.current_price_text(box, css)
