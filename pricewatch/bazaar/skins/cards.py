"""Cards and pages of cards."""

from html import escape

from pricewatch.bazaar import money
from pricewatch.bazaar.clock import Clock
from pricewatch.bazaar.listing import OUT_OF_STOCK, SOLD, View
from pricewatch.bazaar.skins import OverviewPage, layout

STICKERS = {
    SOLD: '<span class="sticker">SOLD</span>',
    OUT_OF_STOCK: '<span class="sticker">Out of stock</span>',
}


def card(view: View, clock: Clock) -> bytes:
    """Return one card; a hidden price is on it neither for people nor for programs."""
    listing, seller = view.listing, view.listing.seller
    amount = "" if view.price_hidden else f' data-price="{view.price}"'
    text = "Price on request" if view.price_hidden else money.shown(view.price, listing.currency)
    rental = ""
    if listing.area is not None:
        rental = f'<span class="card-area">{listing.area} m²</span>'
        rental += f'<span class="card-rooms">{listing.rooms} rooms</span>'
    return (
        f'<article class="card" data-id="{view.id}"{amount} data-currency="{listing.currency}"'
        f' data-status="{view.state}">{STICKERS.get(view.state, "")}'
        f'<a class="card-link" href="{listing.path}">{escape(view.title)}</a>'
        f'<img src="/static/t/{view.id}.png" alt=""><span class="card-price">{text}</span>{rental}'
        f'<a class="card-seller" href="/seller/{seller.id}" data-seller-id="{seller.id}"'
        f' data-seller-type="{seller.type}">{escape(seller.name)}</a>'
        f'<span class="card-city">{seller.postcode} {seller.city}</span>'
        f'<time datetime="{clock.iso(view.shown_since)}">{clock.date(view.shown_since):%d.%m.}</time>'
        "</article>\n"
    ).encode()


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
