"""The box of a product page with its price, stock and button."""

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.product_details import ProductDetails, crossed_out_price
from pricewatch.bazaar.sample_listing import ON_SALE, SOLD, ListingView
from pricewatch.bazaar.word_tables import AMOUNTS_BESIDE

STOCK_LINES = {
    presentation.BACKORDER: "Available on backorder",
    presentation.PREORDER: "Pre-order now",
    presentation.UNKNOWN_STOCK: "Ask in the shop",
}
INSTALMENTS_FROM = 100


def buy_box(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> str:
    """Return the content of the box; it contains no text of the seller."""
    parts = [*_price_lines(view, extra), _state(view, clock), _button(view)]
    is_sold_by_shop = not (view.is_rental or view.presentation.advert)
    if view.state == ON_SALE and is_sold_by_shop and view.presentation.page_price != presentation.LOGIN:
        parts += _cost_lines(view, extra)
    return "".join(parts)


def _price_lines(view: ListingView, extra: ProductDetails) -> list[str]:
    if view.presentation.page_price == presentation.LOGIN:
        return ['<p class="item-price"><a class="login" href="/private/">Log in to see the price</a></p>']
    if view.price_hidden:
        return []
    old = crossed_out_price(view, extra)
    crossed = "" if old is None else f'<s class="old-price">{amounts.displayed(old, view.currency)}</s> '
    unit = ' <span class="unit">rent per month</span>' if view.is_rental else ""
    now = amounts.displayed(view.price, view.currency)
    lines = [f'<p class="item-price">{crossed}<strong class="price">{now}</strong>{unit}{_net(view)}</p>']
    if view.presentation.page_price == presentation.AMBIGUOUS:
        other = amounts.displayed(presentation.conflicting_price(view.price), view.currency)
        lines.append(f'<p class="item-price"><strong class="price">{other}</strong></p>')
    beside = _amounts_beside(view)
    # On every second page they stand before the price.
    return [*beside, *lines] if int(view.listing.key, 36) % 2 else [*lines, *beside]


def _net(view: ListingView) -> str:
    if view.presentation.page_price != presentation.WITH_NET:
        return ""
    net = amounts.displayed(presentation.net_price(view.price), view.currency)
    return f' <small class="net-price">excl. VAT: {net}</small>'


def _amounts_beside(view: ListingView) -> list[str]:
    """Return a line for each amount that is not the price; in German where prices are in euros."""
    if not view.presentation.amounts_beside or view.is_rental:
        return []
    parts = {
        "levy": view.price // 50,
        "deposit": view.price // 20,
        "member-price": view.price * 95 // 100,
        "financing": view.price // 24,
        "unit-price": view.price * 4 // 3,
        "trade-in": view.price * 3 // 10,
        "without-tax": presentation.net_price(view.price),
    }
    words = AMOUNTS_BESIDE["de" if view.currency == "EUR" else "en"]
    return [
        f'<p class="{name}">{words[name].format(amounts.displayed(max(1, amount), view.currency))}</p>'
        for name, amount in parts.items()
    ]


def _state(view: ListingView, clock: MarketplaceClock) -> str:
    # An advert that is online needs no stock line.
    if view.presentation.advert and view.state == ON_SALE and view.stock == ON_SALE:
        return ""
    date = ""
    if view.state == SOLD:
        day = f"{clock.date(view.since):%d.%m.%Y}"
        date = f' <time class="sold-at" datetime="{clock.iso(view.since)}">{day}</time>'
    return f'<p class="item-state" data-state="{view.stock}">{_state_text(view)}{date}</p>'


def _state_text(view: ListingView) -> str:
    if view.state == SOLD:
        return "SOLD on"
    if view.state != ON_SALE:
        return "Out of stock"
    if view.stock in STOCK_LINES:
        return STOCK_LINES[view.stock]
    return "In stock" if view.listing.seller.type == "shop" else "Available"


def _button(view: ListingView) -> str:
    if view.state != ON_SALE or view.stock == presentation.UNKNOWN_STOCK:
        return ""
    if view.presentation.advert:
        return '<button class="contact">Contact the seller</button>'
    return f'<button class="buy">{"Contact" if view.is_rental else "Buy now"}</button>'


def _cost_lines(view: ListingView, extra: ProductDetails) -> list[str]:
    """Return what is paid besides or instead of the price: shipping, and instalments."""
    lines = [f'<p class="shipping">plus {amounts.displayed(extra.shipping, view.currency)} shipping</p>']
    if view.price >= INSTALMENTS_FROM * amounts.MINOR_UNITS[view.currency]:
        monthly = amounts.displayed(view.price // 12 + 1, view.currency)
        lines.append(f'<p class="instalments">or 12 monthly instalments of {monthly}</p>')
    return lines
