"""Any shop's product page without code of its own: structured data first, checked against what the page shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scrapy.http import Response, TextResponse

from pricewatch.items import (
    Availability,
    Extracted,
    ExtractFailure,
    FailureReason,
    Offer,
    Quarantine,
    QuarantineReason,
    Seller,
    SellerType,
)
from pricewatch.parsing.blocked import blocked_reason
from pricewatch.parsing.gone import Departure, GoneEvidence, departure_in, sold_notice
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.price import to_cents
from pricewatch.parsing.roles import Role
from pricewatch.parsing.state import state_prices
from pricewatch.parsing.text import clean
from pricewatch.parsing.tree import shown_text
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_same_product_url
from pricewatch.parsing.visible import Zone, read_zone

from .base import Adapter, Presence, PresenceEvidence
from .candidates import Candidate, Claim, claim_of, meta_candidates, shown_candidates, state_candidates, structured_candidates
from .page_facts import PageFacts, read_page, title_of
from .price_choice import Choice, Verdict, choose_price
from .stock_choice import choose_availability

_GONE_STATUS = frozenset({404, 410})
_FEW_LETTERS = 40
_SOURCES = ("json-ld", "microdata", "rdfa")


@dataclass(slots=True)
class _Reading:
    """A page with everything found on it, on the way to a decision."""

    facts: PageFacts
    page_urls: list[str]
    title: str
    zone: Zone
    claims: list[Claim]
    structured: list[Candidate]
    shown: list[Candidate]
    evidence: list[str] = field(default_factory=list)

    @property
    def has_product(self) -> bool:
        return bool(self.claims) or self.facts.head.is_product or bool(self.facts.head.prices)


class GenericAdapter(Adapter):
    id: ClassVar[str] = "generic"
    version: ClassVar[str] = "1.0.0"
    domain: ClassVar[str] = "*"
    # Shops answer 200 for products that are gone: only the page tells.
    presence_needs_page: ClassVar[bool] = True

    def extract(self, response: Response) -> Extracted | ExtractFailure | Quarantine:
        failure = _failed_before_reading(response)
        if failure or not isinstance(response, TextResponse):
            return failure or ExtractFailure(FailureReason.EMPTY_PAGE, "the answer is not a page")
        reading = _read(response)
        if reading is None:
            return ExtractFailure(FailureReason.EMPTY_PAGE, "the answer has no content")
        departure = _departure(reading)
        if departure and not reading.claims and not reading.facts.head.prices:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"{departure.departure}: {departure.phrase}")
        choice = _choose(reading)
        result = _concluded(reading, choice, response)
        if isinstance(result, Extracted) and departure and departure.departure is Departure.SOLD:
            result.offer.availability = Availability.SOLD
            result.evidence.append(f"availability: SOLD (page: {departure.phrase!r})")
        return result

    def presence(self, response: Response) -> PresenceEvidence:
        if response.status in _GONE_STATUS:
            return PresenceEvidence(Presence.GONE, f"status {response.status}")
        if _failed_before_reading(response) or not isinstance(response, TextResponse):
            return PresenceEvidence(Presence.UNKNOWN)
        reading = _read(response)
        departure = _departure(reading) if reading else None
        if departure is not None:
            presence = Presence.SOLD if departure.departure is Departure.SOLD else Presence.GONE
            return PresenceEvidence(presence, departure.phrase)
        is_shown = reading is not None and (reading.has_product or bool(reading.shown))
        return PresenceEvidence(Presence.ALIVE if is_shown else Presence.UNKNOWN)


def _failed_before_reading(response: Response) -> ExtractFailure | None:
    if response.status in _GONE_STATUS:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: status {response.status}")
    blocked = blocked_reason("", "", "", response.status, has_product_evidence=True)
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked)
    if response.status >= 400:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"status {response.status}")
    asked = _asked_url(response)
    if asked and not is_same_product_url(asked, response.url):
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"redirected from {asked} to {response.url}")
    return None


def _asked_url(response: Response) -> str:
    """The URL that a redirect led away from; empty where there was none."""
    if response.request is None:
        return ""
    redirected = response.request.meta.get("redirect_urls") or [""]
    return str(redirected[0])


def _read(response: TextResponse) -> _Reading | None:
    if _claims_utf8(response):
        try:
            return _reading(read_page(response.url, response.body))
        except UnicodeDecodeError:
            # Some builds of libxml2 keep bytes that are no UTF-8 after all; the decoded text has none.
            pass
    return _reading(read_page(response.url, response.text.encode("utf-8", "replace")))


def _claims_utf8(response: TextResponse) -> bool:
    """Whether the page is in UTF-8; where it says so itself, that saves asking Scrapy, a tenth of the parsing time."""
    header = (response.headers.get("Content-Type") or b"").lower()
    for place in (header, response.body[:4096].lower()):
        position = place.find(b"charset")
        if position >= 0:
            return b"utf-8" in place[position : position + 16]
    return (response.encoding or "").lower() == "utf-8"


def _reading(facts: PageFacts | None) -> _Reading | None:
    if facts is None:
        return None
    title_element = title_of(facts)
    title = title_element[1] if title_element else ""
    page_urls = _page_urls(facts)
    titles = [title, facts.head.first("og:title"), facts.document_title]
    claims = [
        claim
        for source in _SOURCES
        if source in facts.products and (claim := claim_of(source, facts.products[source], page_urls, titles))
    ]
    zone = read_zone(title_element[0], facts.url, facts.currency_hints()) if title_element else Zone()
    trusted = [claim for claim in claims if claim.is_trusted and claim.has_price]
    structured = [one for claim in trusted or claims for one in structured_candidates(claim, page_urls)]
    structured.extend(meta_candidates(facts.head))
    return _Reading(facts, page_urls, title, zone, claims, structured, list(shown_candidates(zone.prices)))


def _page_urls(facts: PageFacts) -> list[str]:
    """The page's own URL first, then the one it calls canonical where that is plausible."""
    urls = [facts.url]
    if facts.canonical_link:
        try:
            link = absolute_url(facts.url, facts.canonical_link)
        except InvalidUrl:
            return urls
        if is_same_product_url(link, facts.url):
            urls.append(link)
    return urls


def _departure(reading: _Reading) -> GoneEvidence | None:
    for text in (reading.title, reading.facts.document_title):
        if found := departure_in(text):
            return found
    texts = [notice.text for notice in reading.zone.notices[:60]]
    # A shop's structured data outlives a notice of one variant, but no notice that this very thing is sold.
    if reading.claims:
        return sold_notice(texts)
    return next((found for text in texts if (found := departure_in(text))), None)


def _concluded(
    reading: _Reading, choice: Choice, response: TextResponse
) -> Extracted | ExtractFailure | Quarantine:
    evidence = [f"price: {one.as_evidence()}" for one in [*reading.structured, *reading.shown][:40]]
    told = _told_availability(reading, choice)
    availability, stock_evidence = choose_availability(told, reading.zone)
    evidence.append(f"availability: {availability} ({stock_evidence})")
    if choice.verdict is Verdict.ACCEPTED and choice.price is not None:
        return _offer_or_doubt(reading, choice, availability, evidence)
    if availability is Availability.OUT_OF_STOCK and choice.verdict in (Verdict.NONE, Verdict.ZERO):
        return ExtractFailure(FailureReason.OOS_NO_PRICE, stock_evidence, evidence)
    if choice.verdict is Verdict.AMBIGUOUS:
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, choice.why, reading, evidence)
    if choice.verdict is Verdict.ZERO:
        return _quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED, choice.why, reading, evidence)
    return _nothing_found(reading, choice, response, evidence)


def _choose(reading: _Reading) -> Choice:
    """The choice among what is easily read; the page's own scripts are asked only where that is not enough."""
    choice = _choice(reading)
    has_price = any(one.amount and one.role is Role.CURRENT for one in reading.structured)
    if choice.verdict is Verdict.ACCEPTED or has_price or not reading.title:
        return choice
    told = list(state_candidates(state_prices(reading.facts.root, reading.title), reading.zone.prices))
    if not told:
        return choice
    reading.structured.extend(told)
    return _choice(reading)


def _choice(reading: _Reading) -> Choice:
    is_about_page = any(one.source in ("meta", "state") for one in reading.structured)
    return choose_price(
        reading.structured,
        reading.shown,
        is_trusted=is_about_page or any(claim.is_trusted for claim in reading.claims),
        is_product_page=reading.has_product or bool(reading.zone.buy_button),
    )


def _nothing_found(
    reading: _Reading, choice: Choice, response: TextResponse, evidence: list[str]
) -> ExtractFailure:
    body = reading.facts.root.find("body")
    text = shown_text(body if body is not None else reading.facts.root, 12_000)
    if len(text.strip()) < 2_500 and body is not None:
        text += " " + " ".join("".join(node.itertext()) for node in body.iter("noscript"))
    blocked = blocked_reason(
        reading.facts.document_title, text, response.text, response.status, has_product_evidence=reading.has_product
    )
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked, evidence)
    if len(text.strip()) < _FEW_LETTERS and not reading.title:
        return ExtractFailure(FailureReason.EMPTY_PAGE, "the page shows nothing", evidence)
    return ExtractFailure(FailureReason.PRICE_NOT_FOUND, choice.why, evidence)


def _offer_or_doubt(
    reading: _Reading, choice: Choice, availability: Availability, evidence: list[str]
) -> Extracted | ExtractFailure | Quarantine:
    price = choice.price
    assert price is not None
    currencies = {one.currency for one in choice.agreeing if one.currency}
    marks = [set(one.shown.codes) for one in choice.agreeing if one.shown and one.shown.codes]
    if len(currencies) != 1 or any(not currencies <= mark for mark in marks):
        why = f"currencies {sorted(currencies)}" if currencies else f"nothing says which currency {price.amount} is in"
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, why, reading, evidence)
    currency = currencies.pop()
    cents = to_cents(price.amount, currency)
    if cents is None:
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, f"{price.amount} {currency} is no amount of money", reading, evidence)
    title = reading.title or next((claim.product.name for claim in reading.claims if claim.product.name), "")
    title = title or reading.facts.head.first("og:title") or reading.facts.document_title
    if not title:
        return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "a price, but no name", evidence)
    offer = _offer(reading, choice, cents, currency, availability, title)
    evidence.insert(0, f"price chosen: {choice.why} ({len({one.source for one in choice.agreeing})} kinds of source)")
    return Extracted(offer, [*evidence, *_field_evidence(offer)])


def _offer(
    reading: _Reading, choice: Choice, cents: int, currency: str, availability: Availability, title: str
) -> Offer:
    products = [claim.product for claim in reading.claims if claim.is_trusted] or [claim.product for claim in reading.claims]
    head = reading.facts.head

    def first(name: str) -> str | None:
        return next((value for product in products if (value := getattr(product, name))), None)

    offered = next((one.offer for one in choice.agreeing if one.offer), None)
    url = canonical_url(reading.page_urls[-1])
    product_id = first("product_id") or head.first("product:retailer_item_id") or None
    sku = first("sku") or head.first("product:sku") or None
    shipping = offered.shipping if offered else None
    image = first("image") or head.first("og:image") or None
    seller = offered.seller if offered else ""
    return Offer(
        url=url,
        title=title,
        price_cents=cents,
        currency=currency,
        availability=availability,
        identity_key=identity_key(product_id, sku, url),
        adapter_version=GenericAdapter.version,
        shipping_cents=to_cents(shipping.amount, currency) if shipping and shipping.amount and shipping.currency == currency else None,
        tax_included=offered.tax_included if offered else None,
        product_id=product_id,
        sku=sku,
        gtin=first("gtin"),
        mpn=first("mpn"),
        brand=first("brand") or head.first("product:brand", "og:brand") or None,
        seller=Seller(id=seller, name=seller, type=SellerType.SHOP) if seller else None,
        image=_link(reading.facts.url, image),
    )


def _link(base: str, link: str | None) -> str | None:
    if not link:
        return None
    try:
        return absolute_url(base, clean(link))
    except InvalidUrl:
        return None


def _told_availability(reading: _Reading, choice: Choice) -> set[Availability]:
    """What structured data says of the offers at the chosen price, or of all where none is chosen."""
    of_price = {one.offer.availability for one in choice.agreeing if one.offer} - {Availability.UNKNOWN}
    of_all = {offer.availability for claim in reading.claims for offer in claim.offers()} - {Availability.UNKNOWN}
    return (of_price or of_all) | ({reading.facts.head.availability} - {Availability.UNKNOWN} if not of_price else set())


def _quarantine(reason: QuarantineReason, why: str, reading: _Reading, evidence: list[str]) -> Quarantine:
    candidates = [one.as_details() for one in [*reading.structured, *reading.shown][:60]]
    return Quarantine(reason, {"why": why, "title": reading.title, "candidates": candidates, "evidence": evidence})


def _field_evidence(offer: Offer) -> list[str]:
    fields = ("title", "url", "identity_key", "brand", "sku", "product_id", "gtin", "mpn", "image")
    return [f"{name}: {value}" for name in fields if (value := getattr(offer, name))]
