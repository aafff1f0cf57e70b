"""sgammo.com: a WooCommerce shop, with quantity tiers on some products and reduced prices on others."""

import re
from html import escape

from pricewatch.bazaar import amounts
from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.product_details import details_of
from pricewatch.bazaar.result_pages import Behaviour
from pricewatch.bazaar.sample_listing import GONE, ON_SALE, SOLD, ListingView
from pricewatch.bazaar.skins import ListPage
from pricewatch.bazaar.skins.site_skin import SiteSkin, gone_status

ROWS = "24"
PAGED = re.compile(r"(/|/product-category/([a-z-]+)/)(?:page/([0-9]{1,4})/)?")
TIERS = (("1-4", 100), ("5-9", 97), ("10+", 94))


class SgammoSite(SiteSkin):
    """Every category is a product category; sold listings are removed."""

    currency = "USD"

    def address(self, view: ListingView) -> str:
        """Return the path of a product."""
        return f"/product/{view.listing.path.removeprefix('/item/')}/"

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer a category, a search or a product."""
        if request.path.startswith("/product/"):
            path = f"/item/{request.path.removeprefix('/product/').rstrip('/')}"
            view = self._present(self._inventory.by_path.get(path))
            return None if view is None else self._product(view)
        paged, words = PAGED.fullmatch(request.path), request.query.get("s", "")
        if paged is None or (paged[2] and paged[2] not in self._inventory.categories):
            return None
        found = self._found(category=paged[2] or "", q=words)
        page = self._page(found, paged[3] or "1", ROWS, behaviour)
        return (
            Response(200, self._category_page(page, paged[1], request.target.partition("?")[2]))
            if page
            else None
        )

    def _category_page(self, page: ListPage, first: str, query: str) -> bytes:
        cards = "".join(self._card(view) for view in self._views(page))
        next_link = ""
        if page.next_href:
            href = f"{first}page/{page.page + 1}/{'?' if query else ''}{query}"
            next_link = f'<nav><a class="next page-numbers" href="{escape(href)}">→</a></nav>'
        return _page("Shop", f'<h1>Shop</h1><ul class="products columns-4">{cards}</ul>{next_link}')

    def _card(self, view: ListingView) -> str:
        price = "" if view.price_hidden else f'<span class="price">{self._price(view)}</span>'
        return (
            f'<li class="product type-product post-{view.id} {_stock(view)}">'
            f'<a class="woocommerce-LoopProduct-link" href="{self.address(view)}">'
            f'<h2 class="woocommerce-loop-product__title">{escape(view.title)}</h2>{price}</a></li>\n'
        )

    def _product(self, view: ListingView) -> Response:
        if view.state == SOLD or gone_status(view):
            return Response(gone_status(view) or 404, _page("Nothing here", "<h1>Page not found</h1>"))
        if view.state == GONE:
            return Response(200, _page("Gone", "<h1>This product is no longer available</h1>"))
        extra, buy = details_of(self._inventory.seed, view.listing), ""
        price = "" if view.price_hidden else f'<p class="price">{self._price(view)}</p>{self._tiers(view)}'
        stock = '<p class="stock out-of-stock">Out of stock</p>'
        if view.state == ON_SALE:
            stock = '<p class="stock in-stock">In stock</p>'
            buy = '<button class="single_add_to_cart_button">Add to cart</button>'
        sku = f'SKU: <span class="sku">{extra.sku}</span>' if extra.sku else ""
        related = "".join(self._card(other.at(other.listed_at)) for other in view.listing.related)
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in extra.paragraphs)
        return Response(
            200,
            _page(
                view.title,
                f'<div id="product-{view.id}" class="product type-product post-{view.id} {_stock(view)}">'
                f'<div class="summary entry-summary"><h1 class="product_title">{escape(view.title)}</h1>'
                f'{price}{stock}{buy}<div class="product_meta">{sku}</div></div>'
                f'<div class="woocommerce-Tabs-panel--description">{text}</div>'
                f'<section class="related products"><ul class="products">{related}</ul></section></div>',
            ),
        )

    def _price(self, view: ListingView) -> str:
        now = f"<bdi>{amounts.displayed(view.price, self.currency)}</bdi>"
        if view.was is None:
            return now
        return f"<del><bdi>{amounts.displayed(view.was, self.currency)}</bdi></del> <ins>{now}</ins>"

    def _tiers(self, view: ListingView) -> str:
        if int(view.listing.key, 36) % 3 or view.was is not None:
            return ""
        rows = "".join(
            f"<tr><td>{count}</td><td>{amounts.displayed(view.price * share // 100, self.currency)}</td></tr>"
            for count, share in TIERS
        )
        return f'<table class="tiers">{rows}</table>'


def _stock(view: ListingView) -> str:
    return "instock" if view.state == ON_SALE else "outofstock"


def _page(title: str, body: str) -> bytes:
    head = f'<!DOCTYPE html><html lang="en-US"><head><title>{escape(title)} | SGAmmo</title></head>'
    return f"{head}<body>{body}</body></html>".encode()
