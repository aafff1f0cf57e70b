"""Changes made through the control interface. They take effect at the current time of the clock and cancel
the planned changes of the listing, so that generated events do not interfere with a test."""

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.json_fields import BadInput, JsonFields
from pricewatch.bazaar.sample_listing import (
    GONE,
    GONE_MODES,
    MARKUPS,
    ON_SALE,
    OUT_OF_STOCK,
    PRICE_HIDDEN,
    PRICE_VISIBLE,
    SOLD,
    UNLISTED,
    SampleListing,
    StateSpan,
)
from pricewatch.bazaar.word_tables import CATEGORIES, CONDITIONS, Category

HIGHEST_PRICE = 10**12
STOCKS = {"in": (ON_SALE, None), "out": (OUT_OF_STOCK, PRICE_VISIBLE), "hidden": (OUT_OF_STOCK, PRICE_HIDDEN)}


def change(inventory: Inventory, fields: JsonFields) -> SampleListing:
    """Create or change a listing; return it."""
    now = int(inventory.update() // 1)
    if fields.has("new"):
        part = fields.nested("new")
        fields.refuse_unknown()
        return _create(inventory, part, now)
    platform_id = fields.string("id")
    listing = inventory.by_id.get(platform_id)
    if listing is None or listing.listed_at > now:
        raise BadInput(f"Unknown listing: {platform_id}.")
    span = _span(fields, now)
    price = fields.integer("price", None, 1, HIGHEST_PRICE) if fields.has("price") else None
    title = fields.string("title") if fields.has("title") else None
    relisted = fields.boolean("return")
    new_id = fields.boolean("new_id")
    fields.refuse_unknown()
    if price is None and title is None and span is None and not relisted:
        raise BadInput("Say what to change: price, title, end, stock or return.")
    if price is not None or span is not None or relisted:
        listing.cancel_plans_after(now)
    if price is not None:
        listing.prices.append((now, price))
    if title is not None:
        listing.titles.append((now, title))
    if span is not None:
        listing.spans.append(span)
    if relisted:
        listing.spans.append(StateSpan(now, ON_SALE))
        listing.bumps.append(now)
    if relisted and new_id:
        fresh = str(inventory.next_id())
        listing.ids.append((now, fresh))
        inventory.by_id[fresh] = listing
    inventory.record_change(listing, now)
    return listing


def _span(fields: JsonFields, now: int) -> StateSpan | None:
    if fields.has("end"):
        end = fields.choice("end", (*GONE_MODES, SOLD, UNLISTED))
        return StateSpan(now, end) if end in (SOLD, UNLISTED) else StateSpan(now, GONE, end)
    if fields.has("stock"):
        return StateSpan(now, *STOCKS[fields.choice("stock", tuple(STOCKS))])
    return None


def _create(inventory: Inventory, fields: JsonFields, now: int) -> SampleListing:
    category = _category(fields.string("category"))
    title = fields.string("title")
    if not title.strip():
        raise BadInput("title must not be empty.")
    price = fields.integer("price", None, 1, HIGHEST_PRICE)
    seller_id = fields.string("seller_id", next(iter(inventory.sellers)))
    seller = inventory.sellers.get(seller_id)
    if seller is None:
        raise BadInput(f"Unknown seller: {seller_id}.")
    markup = fields.choice("markup", MARKUPS, "jsonld")
    condition = fields.choice("condition", CONDITIONS, "good")
    brand = fields.string("brand", category.products[0][0])
    fields.refuse_unknown()
    fresh = str(inventory.next_id())
    key = catalogue.key_of(int(fresh))
    rental = category.name == "rentals"
    listing = SampleListing(
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
        spans=[StateSpan(now, ON_SALE)],
        bumps=[now],
        related=tuple(other for _, _, other in inventory.categories[category.name].offered[:4]),
    )
    inventory.add(listing)
    return listing


def _category(name: str) -> Category:
    for category in CATEGORIES:
        if category.name == name:
            return category
    raise BadInput(f"Unknown category: {name}.")
