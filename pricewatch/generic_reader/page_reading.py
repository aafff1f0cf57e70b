"""A product page on the way to a decision: its facts, what its structured data claims, what it shows."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.http import TextResponse

from pricewatch.generic_reader.candidates import (
    PriceCandidate,
    PriceClaim,
    claim_of,
    meta_candidates,
    shown_candidates,
    state_candidates,
    structured_candidates,
)
from pricewatch.generic_reader.page_facts import PageFacts, read_page, title_of
from pricewatch.generic_reader.price_choice import Choice, PriceVerdict, choose_price
from pricewatch.generic_reader.stock_choice import shown_state
from pricewatch.parsing.pages.gone_notices import GoneEvidence, departure_in, sold_notice
from pricewatch.parsing.pages.product_zone import Zone, read_zone
from pricewatch.parsing.pages.response_tree import is_utf8
from pricewatch.parsing.prices.price import is_on_request
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.embedded_state import state_prices
from pricewatch.parsing.text import squash
from pricewatch.parsing.url import InvalidUrl, absolute_url, is_same_product_url
from pricewatch.vocabulary import Availability

_SOURCES = ("json-ld", "microdata", "rdfa")
_MOST_NOTICES = 60


@dataclass(slots=True)
class ProductReading:
    """A page with everything found on it."""

    facts: PageFacts
    # The page's own URL first, then the one it calls canonical where that is plausible.
    page_urls: list[str]
    title: str
    zone: Zone
    claims: list[PriceClaim]
    structured: list[PriceCandidate]
    shown: list[PriceCandidate]
    # The currency that a person gave with the page; empty where nobody did.
    given_currency: str = ""

    @property
    def has_product(self) -> bool:
        return bool(self.claims) or self.facts.head.is_product or bool(self.facts.head.prices)

    def candidates(self) -> list[PriceCandidate]:
        return [*self.structured, *self.shown]


def read(response: TextResponse, currency: str = "") -> ProductReading | None:
    """Everything that the page of a response offers; None where it offers nothing at all."""
    if is_utf8(response):
        try:
            return _reading(read_page(response.url, response.body), currency)
        except UnicodeDecodeError:
            # Some builds of libxml2 keep bytes that are no UTF-8 after all; the decoded text has none.
            pass
    return _reading(read_page(response.url, response.text.encode("utf-8", "replace")), currency)


def departure_of(reading: ProductReading) -> GoneEvidence | None:
    """What the page says about its listing being gone or sold."""
    for text in (reading.title, reading.facts.document_title):
        if found := departure_in(text):
            return found
    texts = [notice.text for notice in reading.zone.notices[:_MOST_NOTICES]]
    # A shop's structured data outlives a notice of one variant, but no notice that this very thing is sold.
    if reading.claims:
        return sold_notice(texts)
    return next((found for text in texts if (found := departure_in(text))), None)


def choose(reading: ProductReading) -> Choice:
    """The choice among all that the page offers, unless it tells its readers to ask for the price."""
    choice = _chosen(reading)
    if choice.verdict is PriceVerdict.ACCEPTED:
        asked = next(
            (one.text for one in reading.zone.notices[:_MOST_NOTICES] if is_on_request(one.text)), ""
        )
        if asked:
            return Choice(PriceVerdict.AMBIGUOUS, f"a price, but the page says {squash(asked)!r}")
    return choice


def _chosen(reading: ProductReading) -> Choice:
    """The choice among what is easily read; the page's scripts are asked only where that is not enough."""
    choice = _choice(reading)
    has_price = any(one.amount and one.role is Role.CURRENT for one in reading.structured)
    if choice.verdict is PriceVerdict.ACCEPTED or has_price or not reading.title:
        return choice
    told = list(state_candidates(state_prices(reading.facts.root, reading.title), reading.zone.prices))
    if not told:
        return choice
    reading.structured.extend(told)
    return _choice(reading)


def _choice(reading: ProductReading) -> Choice:
    is_about_page = any(one.source in ("meta", "state") for one in reading.structured)
    can_be_bought = bool(reading.zone.buy_button)
    is_sold_out = shown_state(reading.zone)[0] is Availability.OUT_OF_STOCK
    return choose_price(
        reading.structured,
        reading.shown,
        is_trusted=is_about_page or any(claim.is_trusted for claim in reading.claims),
        is_product_page=reading.has_product or can_be_bought or is_sold_out,
        is_sold_out=is_sold_out and not can_be_bought,
        has_currency=bool(reading.given_currency),
    )


def _reading(facts: PageFacts | None, currency: str) -> ProductReading | None:
    if facts is None:
        return None
    named = title_of(facts)
    title = named[1] if named else ""
    page_urls = _page_urls(facts)
    titles = [title, facts.head.first("og:title"), facts.document_title]
    claims = [
        claim
        for source in _SOURCES
        if source in facts.products and (claim := claim_of(source, facts.products[source], page_urls, titles))
    ]
    hints = [currency, *facts.currency_hints()] if currency else facts.currency_hints()
    zone = read_zone(named[0], facts.url, hints) if named else Zone()
    trusted = [claim for claim in claims if claim.is_trusted and claim.has_price]
    structured = [one for claim in trusted or claims for one in structured_candidates(claim, page_urls)]
    structured.extend(meta_candidates(facts.head))
    shown = list(shown_candidates(zone.prices))
    return ProductReading(facts, page_urls, title, zone, claims, structured, shown, currency)


def _page_urls(facts: PageFacts) -> list[str]:
    try:
        link = absolute_url(facts.url, facts.canonical_link) if facts.canonical_link else facts.url
    except InvalidUrl:
        link = facts.url
    return [facts.url, link] if link != facts.url and is_same_product_url(link, facts.url) else [facts.url]
