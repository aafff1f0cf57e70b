"""Cards, and pages of cards."""

from html import escape

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.sample_listing import OUT_OF_STOCK, SOLD, ListingView
from pricewatch.bazaar.skins import ListPage, layout

STICKERS = {
    SOLD: "SOLD",
    OUT_OF_STOCK: "Out of stock",
    presentation.BACKORDER: "Available on backorder",
    presentation.PREORDER: "Pre-order",
    presentation.UNKNOWN_STOCK: "Ask in the shop",
}


def card(view: ListingView, clock: MarketplaceClock, path: str) -> bytes:
    """Return one card; a hidden price is neither displayed nor in an attribute."""
    listing, seller = view.listing, view.listing.seller
    plain = view.presentation.card_price == presentation.PLAIN and not view.price_hidden
    amount = f' data-price="{view.price}"' if plain else ""
    status, sticker = "", ""
    if view.presentation.card_stock:
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


def _price(view: ListingView) -> str:
    """Return the displayed price, or the text shown instead."""
    price, currency = view.price, view.currency
    if view.price_hidden:
        return "Price on request"
    gross = amounts.displayed(price, currency)
    net = amounts.displayed(presentation.net_price(price), currency)
    return {
        presentation.WITH_NET: f"{gross} excl. VAT: {net}",
        presentation.FROM: f"from {amounts.displayed(presentation.from_price(price), currency)}",
        presentation.LOGIN: "Log in to see the price",
        presentation.ABSENT: "",
    }.get(view.presentation.card_price, gross)


def overview(page: ListPage, cards: list[bytes]) -> bytes:
    """Return a page of cards."""
    next_link = (
        "" if page.next_href is None else f'<a rel="next" href="{escape(page.next_href)}">Next page</a>'
    )
    opening = (
        f'{layout.BANNER}<main data-total="{page.total}" data-page="{page.page}" data-pages="{page.pages}">'
        f"<h1>{escape(page.heading)}</h1><p>{page.total} results</p>\n"
    )
    # The cards are already bytes: split the page where they belong.
    before, after = layout.page(page.heading, f"{opening}\0</main>{next_link}").split(b"\0")
    return b"".join((before, *cards, after))
