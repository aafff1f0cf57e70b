"""Generate listings and sellers from a seed. No clock and no I/O."""

import re
import unicodedata
from collections.abc import Iterator
from random import Random

from pricewatch.bazaar import amounts, timeline
from pricewatch.bazaar.sample_listing import SampleListing, SampleSeller
from pricewatch.bazaar.timeline import DAY, HISTORY, Lifecycle
from pricewatch.bazaar.word_tables import CATEGORIES, CITIES, CONDITIONS, FIRST_NAMES, SHOP_NAMES, Category

FIRST_ID = 400_000
# Coprime to 36, so that two ids never get the same URL key.
SCRAMBLE, KEY_SPACE = 1_580_030_173, 36**6
SOLD_EARLIER = 0.08
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MARKUP_ODDS = (("jsonld", 0.62), ("microdata", 0.8), ("plain", 0.97), ("js", 1.0))


def build(seed: int, listings: int, days: int) -> tuple[list[SampleListing], dict[str, SampleSeller]]:
    """Return every listing in the order of its first id, and the sellers by id."""
    sellers = _sellers(Random(f"{seed}/sellers"), max(12, listings // 8))
    made: list[tuple[SampleListing, list[int]]] = []
    for index, (category, stock) in enumerate(zip(CATEGORIES, _stock_per_category(listings), strict=True)):
        made += _category(seed, index, category, stock, days, sellers)
    _assign_ids(seed, made)
    ordered = sorted((listing for listing, _ in made), key=lambda listing: int(listing.ids[0][1]))
    return ordered, {seller.id: seller for seller in sellers}


def key_of(platform_id: int) -> str:
    """Return the part of the URL that stays the same when the id changes."""
    return in_base_36(platform_id * SCRAMBLE % KEY_SPACE, 6)


def in_base_36(number: int, length: int) -> str:
    """Return a number in base 36, least significant digit first."""
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 36)
        text += DIGITS[digit]
    return text


def build_new_listings(
    seed: int,
    category: Category,
    count: int,
    listed_at: int,
    horizon: int,
    sellers: list[SampleSeller],
    first_id: int,
) -> list[SampleListing]:
    """Return listings that all appear at the same time, each with its own lifecycle."""
    made: list[SampleListing] = []
    for number in range(first_id, first_id + count):
        draw = Random(f"{seed}/newcomer {number}")
        listing = _make_listing(draw, category, draw.choice(sellers), listed_at)
        shop = listing.seller.type == "shop"
        lifecycle = timeline.plan_lifecycle(
            draw, listed_at, listing.prices[0][1], category.currency, shop=shop
        )
        _apply_lifecycle(listing, lifecycle.cut(max(horizon, listed_at)))
        listing.ids.append((listed_at, str(number)))
        listing.key = key_of(number)
        listing.path = f"/item/{slug(listing.titles[0][1])}-{listing.key}"
        listing.related = tuple(made[-4:])
        made.append(listing)
    return made


def slug(title: str) -> str:
    """Return the title as a URL slug in ASCII."""
    plain = unicodedata.normalize("NFKD", title.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:48].strip("-") or "item"


def _stock_per_category(listings: int) -> list[int]:
    """Divide the number of listings among the categories."""
    stocks = [int(listings * category.share) for category in CATEGORIES]
    for index in range(listings - sum(stocks)):
        stocks[index % len(stocks)] += 1
    return stocks


def _sellers(rng: Random, count: int) -> list[SampleSeller]:
    sellers = []
    for number in range(count):
        shop = number % 4 == 0
        name = (
            rng.choice(SHOP_NAMES) if shop else f"{rng.choice(FIRST_NAMES)} {rng.choice('ABDFGHKLMPRSTWZ')}."
        )
        city, postcode = rng.choice(CITIES)
        sellers.append(SampleSeller(str(7001 + number * 3), name, "shop" if shop else "user", city, postcode))
    return sellers


def _category(
    seed: int, index: int, category: Category, stock: int, days: int, sellers: list[SampleSeller]
) -> Iterator[tuple[SampleListing, list[int]]]:
    """Yield each listing of a category, with the times at which it gets a new id.

    Every listing has its own random stream, so a longer timeline does not change its beginning.
    """
    horizon = days * DAY
    rng = Random(f"{seed}/{category.name}")
    earlier = round(stock * SOLD_EARLIER)
    listing_times = [-1 - int(rng.random() * (HISTORY - 1)) for _ in range(stock + earlier)]
    listing_times += timeline.arrivals(rng, stock, horizon)
    draw = Random()
    for number, listed_at in enumerate(listing_times):
        draw.seed((seed << 48) + (index << 40) + number)
        listing = _make_listing(draw, category, draw.choice(sellers), listed_at)
        price = listing.prices[0][1]
        if stock <= number < stock + earlier:
            lifecycle = timeline.plan_sold_lifecycle(draw, listed_at, price, category.currency)
        else:
            shop = listing.seller.type == "shop"
            lifecycle = timeline.plan_lifecycle(draw, listed_at, price, category.currency, shop=shop)
        yield listing, _apply_lifecycle(listing, lifecycle.cut(horizon))


def _apply_lifecycle(listing: SampleListing, lifecycle: Lifecycle) -> list[int]:
    listing.spans, listing.prices, listing.bumps = lifecycle.spans, lifecycle.prices, lifecycle.bumps
    return lifecycle.id_changes


def _make_listing(rng: Random, category: Category, seller: SampleSeller, listed_at: int) -> SampleListing:
    brand, models = rng.choice(category.products)
    model = rng.choice(models)
    area = rooms = None
    if category.name == "rentals":
        rooms = rng.randint(1, 5)
        area = rooms * 20 + rng.randint(4, 26)
        amount = area * rng.uniform(9, 21) * 100
        title = _rental_title(rng, category, brand, model, area, rooms)
    else:
        # Squared, so that most listings are cheap and a few are expensive.
        amount = (category.low + (category.high - category.low) * rng.random() ** 2) * amounts.MINOR_UNITS[
            category.currency
        ]
        title = _title(rng, category, brand, model)
    chance = rng.random()
    return SampleListing(
        key="",
        path="",
        category=category,
        brand=brand,
        model=model,
        condition="new" if seller.type == "shop" and rng.random() < 0.7 else rng.choice(CONDITIONS),
        seller=seller,
        markup=next(markup for markup, odds in MARKUP_ODDS if chance < odds),
        area=area,
        rooms=rooms,
        ids=[],
        titles=[(listed_at, title)],
        prices=[(listed_at, amounts.plausible(amount, category.currency, rng))],
        spans=[],
        bumps=[],
    )


def _title(rng: Random, category: Category, brand: str, model: str) -> str:
    kind, extra = rng.choice(category.kinds), rng.choice(category.extras)
    shapes = (
        f"{brand} {model}",
        f"{brand} {model}, {extra}",
        f"{brand} {model} {kind}",
        f"{kind} {brand} {model} {extra}",
        f"{kind}: {brand} {model}",
        f'{brand} "{model}" & Zubehör',
        f"<NEU> {brand} {model}",
        f"✨ {brand} {model} {extra} 🎁",
    )
    return rng.choices(shapes, (20, 24, 18, 16, 10, 6, 3, 3))[0]


def _rental_title(rng: Random, category: Category, kind: str, place: str, area: int, rooms: int) -> str:
    shapes = (
        f"{rooms}-Zimmer-{rng.choice(category.kinds)} {place}, {area} m²",
        f"{kind} {place} {rng.choice(category.extras)}",
        f"Helle {rng.choice(category.kinds)} in {place} & {rng.choice(category.extras)}",
        f'"{kind}" in {place}, {area} m²',
    )
    return rng.choice(shapes)


def _assign_ids(seed: int, made: list[tuple[SampleListing, list[int]]]) -> None:
    """Assign ids in chronological order, with gaps, as a busy platform does."""
    appearances = [(listing.listed_at, place, 0) for place, (listing, _) in enumerate(made)]
    appearances += [(at, place, 1) for place, (_, id_changes) in enumerate(made) for at in id_changes]
    rng = Random(f"{seed}/ids")
    number = FIRST_ID
    for at, place, again in sorted(appearances):
        number += rng.randint(1, 9)
        listing = made[place][0]
        listing.ids.append((at, str(number)))
        if not again:
            listing.key = key_of(number)
            listing.path = f"/item/{slug(listing.titles[0][1])}-{listing.key}"
