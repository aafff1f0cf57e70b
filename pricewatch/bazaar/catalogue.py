"""Seed in, listings out: who sells what, where, for how much. No clock and no I/O."""

import re
import unicodedata
from collections.abc import Iterator
from random import Random

from pricewatch.bazaar import money, timeline
from pricewatch.bazaar.listing import Listing, Seller
from pricewatch.bazaar.names import CATEGORIES, CITIES, CONDITIONS, FIRST_NAMES, SHOP_NAMES, Category
from pricewatch.bazaar.timeline import DAY, HISTORY, Life

FIRST_ID = 400_000
# Coprime to 36, so that scrambling an id into a URL key never makes two alike.
SCRAMBLE, KEY_SPACE = 1_580_030_173, 36**6
SOLD_EARLIER = 0.08
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MARKUP_ODDS = (("jsonld", 0.62), ("microdata", 0.8), ("plain", 0.97), ("js", 1.0))


def build(seed: int, listings: int, days: int) -> tuple[list[Listing], dict[str, Seller]]:
    """Return every listing of the world in the order of its first id, and the sellers by id."""
    sellers = _sellers(Random(f"{seed}/sellers"), max(12, listings // 8))
    made: list[tuple[Listing, list[int]]] = []
    for index, (category, stock) in enumerate(zip(CATEGORIES, _stocks(listings), strict=True)):
        made += _category(seed, index, category, stock, days, sellers)
    _number(seed, made)
    ordered = sorted((listing for listing, _ in made), key=lambda listing: int(listing.ids[0][1]))
    return ordered, {seller.id: seller for seller in sellers}


def key_of(platform_id: int) -> str:
    """Return the part of the URL that stays when the id changes."""
    return in_base_36(platform_id * SCRAMBLE % KEY_SPACE, 6)


def in_base_36(number: int, length: int) -> str:
    """Return a number in digits and letters, the lowest place first."""
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 36)
        text += DIGITS[digit]
    return text


def newcomers(
    seed: int, category: Category, count: int, born: int, horizon: int, sellers: list[Seller], first_id: int
) -> list[Listing]:
    """Return listings that all appear at one instant, each with a life of its own."""
    made: list[Listing] = []
    for number in range(first_id, first_id + count):
        draw = Random(f"{seed}/newcomer {number}")
        listing = _describe(draw, category, draw.choice(sellers), born)
        shop = listing.seller.type == "shop"
        life = timeline.live(draw, born, listing.prices[0][1], category.currency, shop=shop)
        _adopt(listing, life.cut(max(horizon, born)))
        listing.ids.append((born, str(number)))
        listing.key = key_of(number)
        listing.path = f"/item/{slug(listing.titles[0][1])}-{listing.key}"
        listing.related = tuple(made[-4:])
        made.append(listing)
    return made


def slug(title: str) -> str:
    """Return the readable part of a URL, in plain ASCII."""
    plain = unicodedata.normalize("NFKD", title.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:48].strip("-") or "item"


def _stocks(listings: int) -> list[int]:
    """Share the stock out over the categories, to the last listing."""
    stocks = [int(listings * category.share) for category in CATEGORIES]
    for index in range(listings - sum(stocks)):
        stocks[index % len(stocks)] += 1
    return stocks


def _sellers(rng: Random, count: int) -> list[Seller]:
    sellers = []
    for number in range(count):
        shop = number % 4 == 0
        name = (
            rng.choice(SHOP_NAMES) if shop else f"{rng.choice(FIRST_NAMES)} {rng.choice('ABDFGHKLMPRSTWZ')}."
        )
        city, postcode = rng.choice(CITIES)
        sellers.append(Seller(str(7001 + number * 3), name, "shop" if shop else "user", city, postcode))
    return sellers


def _category(
    seed: int, index: int, category: Category, stock: int, days: int, sellers: list[Seller]
) -> Iterator[tuple[Listing, list[int]]]:
    """Yield each listing of a category, with the instants at which it gets a new id.

    Every listing draws from a stream of its own, so a longer timeline leaves the beginning as it was.
    """
    horizon = days * DAY
    rng = Random(f"{seed}/{category.name}")
    earlier = round(stock * SOLD_EARLIER)
    births = [-1 - int(rng.random() * (HISTORY - 1)) for _ in range(stock + earlier)]
    births += timeline.arrivals(rng, stock, horizon)
    draw = Random()
    for number, born in enumerate(births):
        draw.seed((seed << 48) + (index << 40) + number)
        listing = _describe(draw, category, draw.choice(sellers), born)
        price = listing.prices[0][1]
        if stock <= number < stock + earlier:
            life = timeline.sold_before(draw, born, price, category.currency)
        else:
            shop = listing.seller.type == "shop"
            life = timeline.live(draw, born, price, category.currency, shop=shop)
        yield listing, _adopt(listing, life.cut(horizon))


def _adopt(listing: Listing, life: Life) -> list[int]:
    listing.spans, listing.prices, listing.tops = life.spans, life.prices, life.tops
    return life.renamed


def _describe(rng: Random, category: Category, seller: Seller, born: int) -> Listing:
    brand, models = rng.choice(category.products)
    model = rng.choice(models)
    area = rooms = None
    if category.name == "rentals":
        rooms = rng.randint(1, 5)
        area = rooms * 20 + rng.randint(4, 26)
        amount = area * rng.uniform(9, 21) * 100
        title = _rental_title(rng, category, brand, model, area, rooms)
    else:
        # Squared, so that most things are cheap and a few are dear.
        amount = (category.low + (category.high - category.low) * rng.random() ** 2) * money.MINOR[
            category.currency
        ]
        title = _title(rng, category, brand, model)
    chance = rng.random()
    return Listing(
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
        titles=[(born, title)],
        prices=[(born, money.rounded(amount, category.currency, rng))],
        spans=[],
        tops=[],
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


def _number(seed: int, made: list[tuple[Listing, list[int]]]) -> None:
    """Give out ids in the order of time, with gaps, as a busy platform does."""
    wanted = [(listing.listed_at, place, 0) for place, (listing, _) in enumerate(made)]
    wanted += [(at, place, 1) for place, (_, renamed) in enumerate(made) for at in renamed]
    rng = Random(f"{seed}/ids")
    number = FIRST_ID
    for at, place, again in sorted(wanted):
        number += rng.randint(1, 9)
        listing = made[place][0]
        listing.ids.append((at, str(number)))
        if not again:
            listing.key = key_of(number)
            listing.path = f"/item/{slug(listing.titles[0][1])}-{listing.key}"
