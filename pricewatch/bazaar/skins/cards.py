"""Cards and pages of cards."""

from html import escape

from pricewatch.bazaar import look, money
from pricewatch.bazaar.clock import Clock
from pricewatch.bazaar.listing import OUT_OF_STOCK, SOLD, View
from pricewatch.bazaar.skins import OverviewPage, layout

STICKERS = {
    SOLD: "SOLD",
    OUT_OF_STOCK: "Out of stock",
    look.BACKORDER: "Available on backorder",
    look.PREORDER: "Pre-order",
    look.UNKNOWN_STOCK: "Ask in the shop",
}


def card(view: View, clock: Clock, path: str) -> bytes:
    """Return one card; a hidden price is on it neither for people nor for programs."""
    listing, seller = view.listing, view.listing.seller
    plain = view.look.card_price == look.PLAIN and not view.price_hidden
    amount = f' data-price="{view.price}"' if plain else ""
    status, sticker = "", ""
    if view.look.card_stock:
        status = f' data-status="{view.stock}"'
        words = STICKERS.get(view.stock)
        sticker = "" if words is None else f'<span class="sticker">{words}</span>'
    rental = ""
    if listing.area is not None:
        rental = f'<span class="card-area">{listing.area} m²</span>'
        rental += f'<span class="card-rooms">{listing.rooms} rooms</span>'
    return (
        f'<article class="card" data-id="{view.id}"{amount} data-currency="{view.currency}"'
        f"{status}>{sticker}"
        f'<a class="card-link" href="{path}">{escape(view.title)}</a>'
        f'<img src="/static/t/{view.id}.png" alt=""><span class="card-price">{_price(view)}</span>{rental}'
        f'<a class="card-seller" href="/seller/{seller.id}" data-seller-id="{seller.id}"'
        f' data-seller-type="{seller.type}">{escape(seller.name)}</a>'
        f'<span class="card-city">{seller.postcode} {seller.city}</span>'
        f'<time datetime="{clock.iso(view.shown_since)}">{clock.date(view.shown_since):%d.%m.}</time>'
        "</article>\n"
    ).encode()


def _price(view: View) -> str:
    """What people read in the place of the price."""
    price, currency = view.price, view.currency
    if view.price_hidden:
        return "Price on request"
    return {
        look.WITH_NET: f"{money.shown(price, currency)} excl. VAT: {money.shown(look.net(price), currency)}",
        look.FROM: f"from {money.shown(look.lowest(price), currency)}",
        look.LOGIN: "Log in to see the price",
        look.ABSENT: "",
    }.get(view.look.card_price, money.shown(price, currency))


def overview(page: OverviewPage, cards: list[bytes]) -> bytes:
    """Return a page of cards."""
    follow = "" if page.next_href is None else f'<a rel="next" href="{escape(page.next_href)}">Next page</a>'
    opening = (
        f'{layout.BANNER}<main data-total="{page.total}" data-page="{page.page}" data-pages="{page.pages}">'
        f"<h1>{escape(page.heading)}</h1><p>{page.total} results</p>\n"
    )
    # The cards are bytes already: the page is cut open where they belong.
    before, after = layout.page(page.heading, f"{opening}\0</main>{follow}").split(b"\0")
    return b"".join((before, *cards, after))
