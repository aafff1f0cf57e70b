"""Price candidates of a page with their evidence, before one of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pricewatch.money import minor_units
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.prices.price import PriceRefusal
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.embedded_state import StatePrice
from pricewatch.parsing.structured_data.meta_tags import MetaTags
from pricewatch.parsing.structured_data.offers import OfferData
from pricewatch.parsing.structured_data.structured_products import ProductData
from pricewatch.parsing.text import name_overlap, name_words
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_same_product_url

_SIMILAR = 0.6
_DIFFERENT = 0.2
_MAX_LINK_LENGTH = 2_000
_MAX_PLACE_LENGTH = 120
# Products of one kind of data that are compared with the page, and prices of each kind of data.
_MAX_PRODUCTS = 1_000
_MAX_PRICES = 400


@dataclass(slots=True)
class PriceCandidate:
    """An amount, its role, and where on the page it was found."""

    source: str
    where: str
    text: str
    amount: Decimal
    currency: str | None
    role: Role
    offer: OfferData | None = field(default=None, repr=False)
    displayed: DisplayedPrice | None = field(default=None, repr=False)

    def as_evidence(self) -> str:
        money = f"{self.amount} {self.currency or '(no currency)'}"
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
    """The products that one kind of structured data declares for the page."""

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
    """The products of one source that the page is about; None if it is about none of them."""
    # A different URL counts less if there is only one product.
    url_penalty = 1 if len(products) == 1 else 2
    scored = [
        (_score(product, page_urls, titles, url_penalty), product) for product in products[:_MAX_PRODUCTS]
    ]
    best = max((score for score, _ in scored), default=-1)
    if best < 0:
        return None
    chosen = [product for score, product in scored if score == best]
    with_offers = [product for product in chosen if product.offers] or chosen
    # Several products with the same score are a list, not the product of this page.
    if best == 0 and len(with_offers) > 1:
        return None
    return PriceClaim(source, with_offers, is_trusted=best >= 2)


def _score(product: ProductData, page_urls: list[str], titles: list[str], url_penalty: int) -> int:
    score = 0
    links = [product.url] if product.url else list({offer.url for offer in product.offers if offer.url})[:4]
    links = [link for link in links if len(link) <= _MAX_LINK_LENGTH]
    absolute = [_absolute(page_urls[0], link) for link in links]
    if any(_same(one, page) for one in absolute for page in page_urls):
        score += 4
    elif any(is_same_product_url(one, page) for one in absolute for page in page_urls):
        score += 2
    elif product.url:
        score -= url_penalty
    if product.name:
        overlap = max((name_overlap(product.name, title) for title in titles if title), default=0.0)
        is_exact = any(title and name_words(product.name) == name_words(title) for title in titles)
        score += 4 if is_exact else 3 if overlap >= _SIMILAR else -1 if titles and overlap < _DIFFERENT else 0
    if any(
        code and len(code) >= 4 and code.lower() in page_urls[0].lower()
        for code in (product.sku, product.product_id, product.gtin)
    ):
        score += 2
    return score + (2 if product.is_main else 0)


def structured_candidates(claim: PriceClaim, page_urls: list[str]) -> Iterator[PriceCandidate]:
    """The prices of a claim; prefers new goods to used ones, and the variant of this page to others."""
    priced = [
        offer
        for offer in claim.offers()
        if offer.price.amount is not None or offer.price.refusal is PriceRefusal.ZERO
    ][:_MAX_PRICES]
    current = [offer for offer in priced if offer.role is Role.CURRENT]
    new = [offer for offer in current if not offer.is_used] or current
    is_one_price = len({offer.price.amount for offer in new}) == 1
    selected = new if is_one_price else _of_this_variant(new, page_urls[0])
    selected_ids = set(map(id, selected))
    for offer in priced:
        is_variant = offer.role is Role.CURRENT and id(offer) not in selected_ids
        yield PriceCandidate(
            source=claim.source,
            where=offer.path[-_MAX_PLACE_LENGTH:],
            text=offer.text,
            amount=offer.price.amount or Decimal(0),
            currency=offer.price.currency,
            role=Role.VARIANT if is_variant else offer.role,
            offer=offer,
        )


def _of_this_variant(offers: list[OfferData], page_url: str) -> list[OfferData]:
    """The offers for the variant of this page, by URL or SKU; all offers if that is not known."""
    if all(offer.url for offer in offers):
        exact = [offer for offer in offers if _same(_absolute(page_url, offer.url), page_url)]
        if exact:
            return exact
    return [offer for offer in offers if len(offer.sku) >= 4 and offer.sku in page_url] or offers


def meta_candidates(meta_tags: MetaTags) -> Iterator[PriceCandidate]:
    for price in meta_tags.prices[:_MAX_PRICES]:
        if price.price.amount is not None:
            yield PriceCandidate(
                "meta", price.name, price.text, price.price.amount, price.price.currency, price.role
            )


def state_candidates(prices: list[StatePrice], displayed: list[DisplayedPrice]) -> Iterator[PriceCandidate]:
    """Prices in embedded state; an uncertain one, perhaps in cents, only if the page also displays it."""
    amounts = {price.amount for price in displayed}
    currency = next((price.currency for price in displayed if price.currency), "")
    for price in prices[:_MAX_PRICES]:
        from_minor = price.amount.scaleb(-minor_units(price.currency or currency or ""))
        amount = from_minor if price.only_confirms and from_minor in amounts else price.amount
        if not price.only_confirms or amount in amounts:
            yield PriceCandidate("state", price.where, price.text, amount, price.currency, Role.CURRENT)


def displayed_candidates(prices: list[DisplayedPrice]) -> Iterator[PriceCandidate]:
    for price in prices:
        yield PriceCandidate(
            "page", price.where, price.text, price.amount, price.currency, price.role, displayed=price
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
