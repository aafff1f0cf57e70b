"""Changes that a test makes by hand. They happen at the clock's instant, and from then on the listing's
own plans are off: nothing pre-generated interferes with what the test expects."""

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.fields import BadInput, Fields
from pricewatch.bazaar.listing import (
    GONE,
    GONE_MODES,
    MARKUPS,
    ON_SALE,
    OUT_OF_STOCK,
    PRICE_HIDDEN,
    PRICE_VISIBLE,
    SOLD,
    UNLISTED,
    Listing,
    Span,
)
from pricewatch.bazaar.names import CATEGORIES, CONDITIONS, Category
from pricewatch.bazaar.world import World

HIGHEST_PRICE = 10**12
STOCKS = {"in": (ON_SALE, None), "out": (OUT_OF_STOCK, PRICE_VISIBLE), "hidden": (OUT_OF_STOCK, PRICE_HIDDEN)}


def change(world: World, fields: Fields) -> Listing:
    """Make a new listing, or change one; return it."""
    now = int(world.settle() // 1)
    if fields.has("new"):
        part = fields.part("new")
        fields.done()
        return _create(world, part, now)
    platform_id = fields.text("id")
    listing = world.by_id.get(platform_id)
    if listing is None or listing.listed_at > now:
        raise BadInput(f"There is no listing {platform_id}.")
    span = _span(fields, now)
    price = fields.whole("price", None, 1, HIGHEST_PRICE) if fields.has("price") else None
    title = fields.text("title") if fields.has("title") else None
    back = fields.flag("return")
    new_id = fields.flag("new_id")
    fields.done()
    if price is None and title is None and span is None and not back:
        raise BadInput("Say what to change: price, title, end, stock or return.")
    if price is not None or span is not None or back:
        listing.forget_after(now)
    if price is not None:
        listing.prices.append((now, price))
    if title is not None:
        listing.titles.append((now, title))
    if span is not None:
        listing.spans.append(span)
    if back:
        listing.spans.append(Span(now, ON_SALE))
        listing.tops.append(now)
    if back and new_id:
        fresh = str(world.next_id())
        listing.ids.append((now, fresh))
        world.by_id[fresh] = listing
    world.note(listing, now)
    return listing


def _span(fields: Fields, now: int) -> Span | None:
    if fields.has("end"):
        end = fields.choice("end", (*GONE_MODES, SOLD, UNLISTED))
        return Span(now, end) if end in (SOLD, UNLISTED) else Span(now, GONE, end)
    if fields.has("stock"):
        return Span(now, *STOCKS[fields.choice("stock", tuple(STOCKS))])
    return None


def _create(world: World, fields: Fields, now: int) -> Listing:
    category = _category(fields.text("category"))
    title = fields.text("title")
    if not title.strip():
        raise BadInput("title must not be empty.")
    price = fields.whole("price", None, 1, HIGHEST_PRICE)
    seller_id = fields.text("seller_id", next(iter(world.sellers)))
    seller = world.sellers.get(seller_id)
    if seller is None:
        raise BadInput(f"There is no seller {seller_id}.")
    markup = fields.choice("markup", MARKUPS, "jsonld")
    condition = fields.choice("condition", CONDITIONS, "good")
    brand = fields.text("brand", category.products[0][0])
    fields.done()
    fresh = str(world.next_id())
    key = catalogue.key_of(int(fresh))
    rental = category.name == "rentals"
    listing = Listing(
        key=key,
        path=f"/item/{catalogue.slug(title)}-{key}",
        category=category,
        brand=brand,
        model=title,
        condition=condition,
        seller=seller,
        markup=markup,
        area=60 if rental else None,
        rooms=3 if rental else None,
        ids=[(now, fresh)],
        titles=[(now, title)],
        prices=[(now, price)],
        spans=[Span(now, ON_SALE)],
        tops=[now],
        related=tuple(other for _, _, other in world.shelves[category.name].offered[:4]),
    )
    world.add(listing)
    return listing


def _category(name: str) -> Category:
    for category in CATEGORIES:
        if category.name == name:
            return category
    raise BadInput(f"There is no category {name}.")
