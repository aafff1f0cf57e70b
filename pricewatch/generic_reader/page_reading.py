"""Reading a product page: its facts, the claims of its structured data, and the displayed prices."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from scrapy.http import TextResponse

from pricewatch.generic_reader.candidates import (
    PriceCandidate,
    PriceClaim,
    claim_of,
    meta_candidates,
    state_candidates,
    structured_candidates,
)
from pricewatch.generic_reader.page_amounts import PageAmounts
from pricewatch.generic_reader.page_facts import MAX_NAME_LENGTH, PageFacts, read_page, title_of
from pricewatch.generic_reader.price_choice import Choice, PriceVerdict, choose_price
from pricewatch.generic_reader.price_exclusions import PageEvidence
from pricewatch.generic_reader.stock_choice import DisplayedStock, displayed_stock
from pricewatch.parsing.pages.element_path import elements_at
from pricewatch.parsing.pages.element_tree import Element, is_utf8_response
from pricewatch.parsing.pages.gone_notices import GoneEvidence, find_departure, sold_notice
from pricewatch.parsing.pages.main_block import MainBlock, find_main_block
from pricewatch.parsing.prices.price import is_on_request
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.embedded_state import state_prices
from pricewatch.parsing.text import collapse_spaces
from pricewatch.parsing.url import InvalidUrl, absolute_url, is_same_product_url

_SOURCES = ("json-ld", "microdata", "rdfa")
_MAX_NOTICES = 60
_MAX_WRAPPERS = 2
_MAX_PLACES = 20


@dataclass(slots=True)
class ProductReading:
    """Everything found on a page."""

    facts: PageFacts
    # The URL of the page, then its canonical link if that is plausible.
    page_urls: list[str]
    title: str
    main: MainBlock
    stock: DisplayedStock
    claims: list[PriceClaim]
    structured: list[PriceCandidate]
    amounts: PageAmounts
    # The currency that a user configured for the page, or an empty text.
    expected_currency: str = ""
    # A selector: where the price stood on other pages of the shop, or an empty text.
    price_place: str = ""
    # Scripts that were not read, because they are larger than any real one.
    left_out: list[str] = field(default_factory=list)

    @property
    def has_product(self) -> bool:
        return bool(self.claims) or self.facts.meta_tags.is_product or bool(self.facts.meta_tags.prices)

    @property
    def displayed(self) -> list[PriceCandidate]:
        return self.amounts.displayed

    def candidates(self) -> list[PriceCandidate]:
        return [*self.structured, *self.displayed]


def read(response: TextResponse, currency: str = "", price_place: str = "") -> ProductReading | None:
    """Read the page of a response; None if it is empty."""
    if is_utf8_response(response):
        try:
            return _reading(read_page(response.url, response.body), currency, price_place)
        except UnicodeDecodeError:
            # Some builds of libxml2 keep invalid UTF-8 bytes; the decoded text has none.
            pass
    facts = read_page(response.url, response.text.encode("utf-8", "replace"))
    return _reading(facts, currency, price_place)


def departure_of(reading: ProductReading) -> GoneEvidence | None:
    """The evidence on the page that its listing is gone or sold."""
    for text in (reading.title, reading.facts.document_title):
        if found := find_departure(text):
            return found
    texts = [notice.text for notice in reading.main.notices()[:_MAX_NOTICES]]
    # What can be put into a cart is not sold: "35 sold" counts sales.
    if reading.stock.can_be_bought:
        return None
    # With structured data, a "gone" notice may be about one variant only; a "sold" notice still counts.
    if reading.claims:
        return sold_notice(texts)
    return next((found for text in texts if (found := find_departure(text))), None)


def choose(reading: ProductReading) -> Choice:
    """Choose the price; ambiguous if the page says that the price is on request."""
    choice = _choose_with_state(reading)
    if choice.verdict is PriceVerdict.ACCEPTED and reading.facts.left_out:
        # What was not read may contradict the price.
        return Choice(PriceVerdict.AMBIGUOUS, f"not all data was read: {reading.facts.left_out[0]}")
    if choice.verdict is PriceVerdict.ACCEPTED:
        request_text = next(
            (one.text for one in reading.main.notices()[:_MAX_NOTICES] if is_on_request(one.text)), ""
        )
        if request_text:
            why = f"there is a price, but the page says {collapse_spaces(request_text)!r}"
            return Choice(PriceVerdict.AMBIGUOUS, why)
    return choice


def _choose_with_state(reading: ProductReading) -> Choice:
    """Choose the price; embedded state is read only if there is no other structured price."""
    choice = _choice(reading)
    has_price = any(one.amount and one.role is Role.CURRENT for one in reading.structured)
    if choice.verdict is PriceVerdict.ACCEPTED or has_price or not reading.title:
        return choice
    found = state_prices(reading.facts.root, reading.title, reading.left_out)
    from_state = list(state_candidates(found, reading.main.scan.prices))
    if not from_state:
        return choice
    reading.structured.extend(from_state)
    reading.amounts = PageAmounts(
        reading.main, reading.structured, _usual_place(reading.facts, reading.price_place)
    )
    return _choice(reading)


def _choice(reading: ProductReading) -> Choice:
    is_about_page = any(one.source in ("meta", "state") for one in reading.structured)
    return choose_price(
        reading.amounts,
        reading.structured,
        PageEvidence(
            is_trusted=is_about_page or any(claim.is_trusted for claim in reading.claims),
            is_product_page=reading.has_product or reading.stock.is_stated,
            can_be_bought=reading.stock.can_be_bought,
            has_expected_currency=bool(reading.expected_currency),
        ),
    )


def _reading(facts: PageFacts | None, currency: str, price_place: str) -> ProductReading | None:
    if facts is None:
        return None
    title_element = title_of(facts)
    title = title_element[1] if title_element else ""
    page_urls = _page_urls(facts)
    titles = [title, facts.meta_tags.first("og:title")[:MAX_NAME_LENGTH], facts.document_title]
    claims = [
        claim
        for source in _SOURCES
        if source in facts.products and (claim := claim_of(source, facts.products[source], page_urls, titles))
    ]
    hints = [currency, *facts.currency_hints()] if currency else facts.currency_hints()
    body = facts.root.find("body")
    element = title_element[0] if title_element else None
    main = find_main_block(facts.root if body is None else body, element, facts.url, hints)
    trusted = [claim for claim in claims if claim.is_trusted and claim.has_price]
    structured = [one for claim in trusted or claims for one in structured_candidates(claim, page_urls)]
    structured.extend(meta_candidates(facts.meta_tags))
    return ProductReading(
        facts=facts,
        page_urls=page_urls,
        title=title,
        main=main,
        stock=displayed_stock(main, facts.advert_site),
        claims=claims,
        structured=structured,
        amounts=PageAmounts(main, structured, _usual_place(facts, price_place)),
        expected_currency=currency,
        price_place=price_place,
    )


def _usual_place(facts: PageFacts, price_place: str) -> list[Element]:
    """The elements where the price stood on other pages, and those around them: one may be a block."""
    found = elements_at(facts.root, price_place)[:_MAX_PLACES] if price_place else []
    return [one for element in found for one in (element, *islice(element.iterancestors(), _MAX_WRAPPERS))]


def _page_urls(facts: PageFacts) -> list[str]:
    try:
        link = absolute_url(facts.url, facts.canonical_link) if facts.canonical_link else facts.url
    except InvalidUrl:
        link = facts.url
    return [facts.url, link] if link != facts.url and is_same_product_url(link, facts.url) else [facts.url]
