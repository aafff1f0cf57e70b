"""Facts shown only on product pages: description, attributes, trade numbers. Generated on first use."""

from dataclasses import dataclass
from functools import lru_cache
from random import Random
from zlib import crc32

from pricewatch.bazaar import amounts
from pricewatch.bazaar.presentation import LOGIN
from pricewatch.bazaar.sample_listing import ListingView, SampleListing
from pricewatch.bazaar.word_tables import PRICE_TALK, SENTENCES


@dataclass(frozen=True, slots=True)
class ProductDetails:
    """The lazily generated part of a listing."""

    paragraphs: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    sku: str | None
    mpn: str | None
    gtin: str | None
    shipping: int
    list_price: int


@lru_cache(maxsize=20_000)
def details_of(seed: int, listing: SampleListing) -> ProductDetails:
    """Return the details of a listing; they depend only on the seed and the key."""
    rng = Random(f"{seed}/{listing.key}")
    first = listing.prices[0][1]
    traded = listing.seller.type == "shop" and listing.area is None
    sku = f"{listing.brand[:2].upper()}{rng.randint(10_000, 99_999)}" if traded else None
    return ProductDetails(
        paragraphs=_paragraphs(rng, first, listing.currency),
        attributes=_attributes(rng, listing),
        sku=sku,
        mpn=_mpn(listing) if traded else None,
        gtin=_gtin(listing) if traded else None,
        shipping=rng.choice((490, 690, 1290)) if listing.currency != "JPY" else rng.choice((550, 770)),
        list_price=amounts.changed_price(first, rng.uniform(1.12, 1.4), listing.currency, rng),
    )


def crossed_out_price(view: ListingView, extra: ProductDetails) -> int | None:
    """Return the crossed-out price: the highest so far, or the recommended price; None if none is shown."""
    old = view.was or extra.list_price
    hidden = view.is_rental or view.price_hidden or view.presentation.page_price == LOGIN
    return None if hidden or old <= view.price else old


def _paragraphs(rng: Random, price: int, currency: str) -> tuple[str, ...]:
    paragraphs = [" ".join(rng.sample(SENTENCES, rng.randint(2, 4))) for _ in range(rng.randint(2, 4))]
    if rng.random() < 0.2:
        much = amounts.displayed(amounts.plausible(price * 1.7, currency, rng), currency)
        little = amounts.displayed(amounts.plausible(price * 0.2, currency, rng), currency)
        paragraphs.append(rng.choice(PRICE_TALK).format(much=much, little=little))
    return tuple(paragraphs)


def _attributes(rng: Random, listing: SampleListing) -> tuple[tuple[str, str], ...]:
    rows = [(name, rng.choice(values)) for name, values in listing.category.attributes]
    if listing.area is None:
        return (("Brand", listing.brand), ("Condition", listing.condition), *rows)
    deposit = amounts.displayed(listing.prices[0][1] * 3, listing.currency)
    return (("Area", f"{listing.area} m²"), ("Rooms", str(listing.rooms)), *rows, ("Deposit", deposit))


def _model_number(listing: SampleListing) -> int:
    """Return one number per product, so that all shops give a product the same trade numbers."""
    return crc32(f"{listing.brand} {listing.model}".encode())


def _mpn(listing: SampleListing) -> str:
    return f"{listing.brand[:3].upper()}-{_model_number(listing) % 1_000_000:06d}"


def _gtin(listing: SampleListing) -> str:
    body = f"90{_model_number(listing) % 10**10:010d}"
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return f"{body}{-weighted % 10}"
