"""The prices that a page offers as its own, each with its evidence, before one of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pricewatch.parsing.pages.displayed_price import ShownPrice
from pricewatch.parsing.prices.price import PriceRefusal
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.embedded_state import StatePrice
from pricewatch.parsing.structured_data.meta_tags import Head
from pricewatch.parsing.structured_data.offers import OfferData
from pricewatch.parsing.structured_data.structured_products import ProductData
from pricewatch.parsing.text import name_overlap, words
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_same_product_url

_ALIKE = 0.6
_UNLIKE = 0.2


@dataclass(slots=True)
class PriceCandidate:
    """One amount, what it is said to be, and where the page says so."""

    source: str
    where: str
    text: str
    amount: Decimal
    currency: str | None
    role: Role
    offer: OfferData | None = field(default=None, repr=False)
    shown: ShownPrice | None = field(default=None, repr=False)

    def as_evidence(self) -> str:
        money = f"{self.amount} {self.currency or '(currency not given)'}"
        return f"{money} from {self.source} {self.where} ({self.role}): {self.text!r}"

    def as_details(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "where": self.where,
            "text": self.text,
            "amount": str(self.amount),
            "currency": self.currency,
            "role": str(self.role),
        }


@dataclass(slots=True)
class PriceClaim:
    """What one kind of structured data says of the page's product."""

    source: str
    products: list[ProductData]
    is_trusted: bool

    @property
    def has_price(self) -> bool:
        return any(offer.price.amount and offer.role is Role.CURRENT for offer in self.offers())

    @property
    def product(self) -> ProductData:
        return self.products[0]

    def offers(self) -> list[OfferData]:
        return [offer for product in self.products for offer in product.offers]


def claim_of(
    source: str, products: list[ProductData], page_urls: list[str], titles: list[str]
) -> PriceClaim | None:
    """The products of one source that the page is about; None where they are all about something else."""
    # A wrong link counts less where there is no other product that the page could be about.
    strangeness = 1 if len(products) == 1 else 2
    scored = [(_score(product, page_urls, titles, strangeness), product) for product in products]
    best = max((score for score, _ in scored), default=-1)
    if best < 0:
        return None
    chosen = [product for score, product in scored if score == best]
    with_offers = [product for product in chosen if product.offers] or chosen
    # Several that nothing tells apart are a list of products, not the product of this page.
    if best == 0 and len(with_offers) > 1:
        return None
    return PriceClaim(source, with_offers, is_trusted=best >= 2)


def _score(product: ProductData, page_urls: list[str], titles: list[str], strangeness: int) -> int:
    score = 0
    links = [product.url] if product.url else list({offer.url for offer in product.offers if offer.url})[:4]
    absolute = [_absolute(page_urls[0], link) for link in links]
    if any(_same(one, page) for one in absolute for page in page_urls):
        score += 4
    elif any(is_same_product_url(one, page) for one in absolute for page in page_urls):
        score += 2
    elif product.url:
        score -= strangeness
    if product.name:
        overlap = max((name_overlap(product.name, title) for title in titles if title), default=0.0)
        is_exact = any(title and words(product.name) == words(title) for title in titles)
        score += 4 if is_exact else 3 if overlap >= _ALIKE else -1 if titles and overlap < _UNLIKE else 0
    if any(
        code and len(code) >= 4 and code.lower() in page_urls[0].lower()
        for code in (product.sku, product.product_id, product.gtin)
    ):
        score += 2
    return score + (2 if product.is_main else 0)


def structured_candidates(claim: PriceClaim, page_urls: list[str]) -> Iterator[PriceCandidate]:
    """The prices of a claim: of new goods rather than used ones, of this variant where it is known."""
    priced = [
        offer
        for offer in claim.offers()
        if offer.price.amount is not None or offer.price.refusal is PriceRefusal.ZERO
    ]
    current = [offer for offer in priced if offer.role is Role.CURRENT]
    fresh = [offer for offer in current if not offer.is_used] or current
    kept = (
        fresh if len({offer.price.amount for offer in fresh}) == 1 else _of_this_variant(fresh, page_urls[0])
    )
    for offer in priced:
        dropped = offer.role is Role.CURRENT and offer not in kept
        yield PriceCandidate(
            source=claim.source,
            where=offer.path,
            text=offer.text,
            amount=offer.price.amount or Decimal(0),
            currency=offer.price.currency,
            role=Role.VARIANT if dropped else offer.role,
            offer=offer,
        )


def _of_this_variant(offers: list[OfferData], page_url: str) -> list[OfferData]:
    """Only where each offer names its own page does the one that names this page stand out."""
    if all(offer.url for offer in offers):
        exact = [offer for offer in offers if _same(_absolute(page_url, offer.url), page_url)]
        if exact:
            return exact
    return [offer for offer in offers if len(offer.sku) >= 4 and offer.sku in page_url] or offers


def meta_candidates(head: Head) -> Iterator[PriceCandidate]:
    for price in head.prices:
        if price.price.amount is not None:
            yield PriceCandidate(
                "meta", price.name, price.text, price.price.amount, price.price.currency, price.role
            )


def state_candidates(prices: list[StatePrice], shown: list[ShownPrice]) -> Iterator[PriceCandidate]:
    """The prices of the page's own scripts; a doubtful one only where the page shows it as well."""
    amounts = {price.amount for price in shown}
    for price in prices:
        if not price.only_confirms or price.amount in amounts:
            yield PriceCandidate("state", price.where, price.text, price.amount, price.currency, Role.CURRENT)


def shown_candidates(prices: list[ShownPrice]) -> Iterator[PriceCandidate]:
    for price in prices:
        yield PriceCandidate(
            "page", price.where, price.text, price.amount, price.currency, price.role, shown=price
        )


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return canonical_url(one) == canonical_url(other)
    except InvalidUrl:
        return False


def _absolute(base: str, link: str) -> str:
    try:
        return absolute_url(base, link)
    except InvalidUrl:
        return link
