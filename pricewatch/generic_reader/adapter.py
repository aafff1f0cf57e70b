"""The adapter for product pages of any shop: structured data, checked against the displayed page."""

from __future__ import annotations

from itertools import islice
from typing import ClassVar

from scrapy.http import Response, TextResponse

from pricewatch.adapters.base import Adapter, AmountReport, Presence, PresenceEvidence
from pricewatch.generic_reader.explanation import (
    amount_reports,
    candidate_rows,
    place_evidence,
    price_place,
)
from pricewatch.generic_reader.page_amounts import Amount
from pricewatch.generic_reader.page_reading import ProductReading, choose, departure_of, read
from pricewatch.generic_reader.price_choice import Choice, PriceVerdict
from pricewatch.generic_reader.stock_choice import choose_availability
from pricewatch.items import Extracted, ExtractFailure, Offer, Quarantine, SellerInfo
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.pages.block_notices import blocked_reason
from pricewatch.parsing.pages.element_tree import short_text, visible_text
from pricewatch.parsing.pages.gone_notices import Departure
from pricewatch.parsing.prices.price import to_cents
from pricewatch.parsing.structured_data.offers import OfferData
from pricewatch.parsing.text import clean
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_same_product_url
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason, SellerType

_GONE_STATUS = frozenset({404, 410})
_MIN_TEXT_LENGTH = 40
_SHORT_TEXT_LENGTH = 2_500
_MAX_CANDIDATES = 20
_MAX_NOSCRIPT = 20
_EVIDENCE_FIELDS = ("title", "url", "identity_key", "brand", "sku", "product_id", "gtin", "mpn", "image")


class GenericAdapter(Adapter):
    id: ClassVar[str] = "generic"
    version: ClassVar[str] = "2.0.0"
    domain: ClassVar[str] = "*"
    # Shops return status 200 for products that are gone; only the page says so.
    presence_needs_page: ClassVar[bool] = True

    def __init__(self, currency: str = "", price_place: str = ""):
        # For pages that do not name a currency; a page that names a different one is quarantined.
        self.expected_currency = currency
        # A CSS selector: where the price stood on other pages of the shop.
        self.price_place = price_place

    def in_currency(self, currency: str) -> GenericAdapter:
        return GenericAdapter(currency, self.price_place)

    def with_price_place(self, selector: str) -> GenericAdapter:
        return GenericAdapter(self.expected_currency, selector)

    def extract(self, response: Response) -> Extracted | ExtractFailure | Quarantine:
        failure = _failed_before_reading(response)
        if failure or not isinstance(response, TextResponse):
            return failure or ExtractFailure(FailureReason.EMPTY_PAGE, "the response is not a page")
        reading = read(response, self.expected_currency, self.price_place)
        if reading is None:
            return ExtractFailure(FailureReason.EMPTY_PAGE, "the response has no content")
        departure = departure_of(reading)
        if departure and not reading.claims and not reading.facts.meta_tags.prices:
            details = f"{departure.departure}: {departure.phrase}"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
        result = _result(reading, choose(reading), response)
        if isinstance(result, Extracted) and departure and departure.departure is Departure.SOLD:
            result.offer.availability = Availability.SOLD
            result.evidence.append(f"availability: SOLD (page: {departure.phrase!r})")
        return result

    def explain(self, response: Response) -> tuple[str, list[AmountReport]]:
        reading = None
        if isinstance(response, TextResponse):
            reading = read(response, self.expected_currency, self.price_place)
        if reading is None:
            return "the response is not a page", []
        choice = choose(reading)
        return f"{choice.verdict}: {choice.why}", amount_reports(reading, choice)

    def presence(self, response: Response) -> PresenceEvidence:
        if response.status in _GONE_STATUS:
            return PresenceEvidence(Presence.GONE, f"status {response.status}")
        if _failed_before_reading(response) or not isinstance(response, TextResponse):
            return PresenceEvidence(Presence.UNKNOWN)
        reading = read(response)
        departure = departure_of(reading) if reading else None
        if departure is not None:
            presence = Presence.SOLD if departure.departure is Departure.SOLD else Presence.GONE
            return PresenceEvidence(presence, departure.phrase)
        is_product_page = reading is not None and (reading.has_product or bool(reading.displayed))
        return PresenceEvidence(Presence.ALIVE if is_product_page else Presence.UNKNOWN)


def _failed_before_reading(response: Response) -> ExtractFailure | None:
    if response.status in _GONE_STATUS:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: status {response.status}")
    blocked = blocked_reason("", "", "", response.status, has_product_evidence=True)
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked)
    if response.status >= 400:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"status {response.status}")
    requested = _requested_url(response)
    if requested and not is_same_product_url(requested, response.url):
        details = f"redirected from {requested} to {response.url}"
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
    return None


def _requested_url(response: Response) -> str:
    """The URL before redirects; empty if there were none."""
    if response.request is None:
        return ""
    redirected = response.request.meta.get("redirect_urls") or [""]
    return str(redirected[0])


def _result(
    reading: ProductReading, choice: Choice, response: TextResponse
) -> Extracted | ExtractFailure | Quarantine:
    evidence = [f"price: {one.as_evidence()}" for one in reading.candidates()[:_MAX_CANDIDATES]]
    evidence.extend(place_evidence(reading))
    evidence.extend(f"left out: {one}" for one in [*reading.facts.left_out, *reading.left_out])
    availability, stock = choose_availability(_structured_availability(reading, choice), reading.stock)
    evidence.append(f"availability: {availability} ({stock})")
    if choice.verdict is PriceVerdict.ACCEPTED and choice.price is not None:
        return _price_result(reading, choice, choice.price, availability, evidence)
    if availability is Availability.OUT_OF_STOCK and choice.verdict in (PriceVerdict.NONE, PriceVerdict.ZERO):
        return ExtractFailure(FailureReason.OOS_NO_PRICE, stock, evidence)
    if choice.verdict is PriceVerdict.AMBIGUOUS:
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, choice.why, reading, evidence)
    if choice.verdict is PriceVerdict.ZERO:
        return _quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED, choice.why, reading, evidence)
    return _no_price_result(reading, choice, response, evidence)


def _no_price_result(
    reading: ProductReading, choice: Choice, response: TextResponse, evidence: list[str]
) -> ExtractFailure:
    body = reading.facts.root.find("body")
    text = " ".join(one.text.strip() for one in reading.main.scan.notices)
    if len(text) <= 2 * _SHORT_TEXT_LENGTH:
        text = visible_text(body if body is not None else reading.facts.root, _SHORT_TEXT_LENGTH)
    if len(text.strip()) < _SHORT_TEXT_LENGTH and body is not None:
        # Pages that require JavaScript say so in <noscript>.
        hidden = (
            short_text(node, _SHORT_TEXT_LENGTH) for node in islice(body.iter("noscript"), _MAX_NOSCRIPT)
        )
        text += " " + " ".join(filter(None, hidden))
    blocked = blocked_reason(
        reading.facts.document_title, text, response.text, has_product_evidence=reading.has_product
    )
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked, evidence)
    # A page that shows a product without any amount may get its price from a script.
    shows_no_amount = not any(one.amount for one in reading.amounts.prices)
    if len(text.strip()) < _MIN_TEXT_LENGTH and not reading.title:
        details = "the page shows nothing"
        return ExtractFailure(FailureReason.EMPTY_PAGE, details, evidence, may_need_browser=True)
    return ExtractFailure(
        FailureReason.PRICE_NOT_FOUND,
        choice.why,
        evidence,
        may_need_browser=reading.has_product or (bool(reading.title) and shows_no_amount),
    )


def _price_result(
    reading: ProductReading,
    choice: Choice,
    price: Amount,
    availability: Availability,
    evidence: list[str],
) -> Extracted | ExtractFailure | Quarantine:
    currency, why = _currency(reading, choice, price)
    if currency is None:
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, why, reading, evidence)
    evidence.append(f"currency: {currency} ({why})")
    cents = to_cents(price.value, currency)
    if cents is None:
        why = f"{price.value} is not a valid amount of {currency}"
        return _quarantine(QuarantineReason.AMBIGUOUS_PRICE, why, reading, evidence)
    title = _title(reading)
    if not title:
        return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "the page has a price but no title", evidence)
    offer = _offer(reading, choice, title, availability, cents, currency)
    sources = sorted({one.source for one in choice.agreeing})
    fields = [f"{name}: {value[:400]}" for name in _EVIDENCE_FIELDS if (value := getattr(offer, name))]
    chosen = f"price chosen: {choice.why} ({', '.join(sources)})"
    return Extracted(offer, [chosen, *evidence, *fields], price_place(reading, choice))


def _currency(reading: ProductReading, choice: Choice, price: Amount) -> tuple[str | None, str]:
    """The currency of the chosen price and its source; or None and the reason."""
    expected = reading.expected_currency
    currencies = {one.currency for one in choice.agreeing if one.currency}
    marks = [set(one.displayed.codes) for one in choice.agreeing if one.displayed and one.displayed.codes]
    uses_expected = bool(expected) and not currencies
    if uses_expected:
        if others := set(reading.facts.named_currencies()) - {expected}:
            return None, f"the page names {' and '.join(sorted(others))}, but {expected} is expected"
        currencies = {expected}
    if not currencies and marks and (code := reading.facts.source_currency()):
        # A mark like $ is of several currencies; scripts of the page name one of them.
        currencies = {code}
    if len(currencies) != 1 or any(not currencies <= mark for mark in marks):
        named = " or ".join(sorted(currencies))
        if named:
            return None, f"the page contradicts itself about the currency: {named}"
        return None, f"the currency of {price.value} is not known"
    currency = currencies.pop()
    if expected and currency != expected:
        return None, f"the page gives its price in {currency}, but {expected} is expected"
    others = {one.currency for one in reading.structured if one.currency and one.amount} - {currency}
    if others and not any(one.displayed for one in choice.agreeing):
        named = " and ".join(sorted({currency, *others}))
        return None, f"structured data gives prices in {named}, and the page displays none of them"
    return currency, "expected currency" if uses_expected else "page"


def _title(reading: ProductReading) -> str:
    named = next((claim.product.name for claim in reading.claims if claim.product.name), "")
    return reading.title or named or reading.facts.meta_tags.first("og:title") or reading.facts.document_title


def _offer(
    reading: ProductReading, choice: Choice, title: str, availability: Availability, cents: int, currency: str
) -> Offer:
    claims = [claim for claim in reading.claims if claim.is_trusted] or reading.claims
    meta_tags = reading.facts.meta_tags

    def first(name: str, *tags: str) -> str | None:
        values = (getattr(claim.product, name) for claim in claims)
        return next(filter(None, values), None) or meta_tags.first(*tags) or None

    offer_data = next((one.offer for one in choice.agreeing if one.offer), None)
    url = canonical_url(reading.page_urls[-1])
    product_id = first("product_id", "product:retailer_item_id")
    sku = first("sku", "product:sku")
    seller = offer_data.seller if offer_data else ""
    return Offer(
        url=url,
        title=title,
        price_cents=cents,
        currency=currency,
        availability=availability,
        identity_key=identity_key(product_id, sku, url),
        adapter_version=GenericAdapter.version,
        shipping_cents=_shipping_cents(offer_data, currency),
        tax_included=offer_data.tax_included if offer_data else None,
        product_id=product_id,
        sku=sku,
        gtin=first("gtin"),
        mpn=first("mpn"),
        brand=first("brand", "product:brand", "og:brand"),
        seller=SellerInfo(id=seller, name=seller, type=SellerType.SHOP) if seller else None,
        image=_link(reading.facts.url, first("image", "og:image")),
    )


def _shipping_cents(offer_data: OfferData | None, currency: str) -> int | None:
    shipping = offer_data.shipping if offer_data else None
    if shipping is None or not shipping.amount or shipping.currency != currency:
        return None
    return to_cents(shipping.amount, currency)


def _link(base: str, link: str | None) -> str | None:
    if not link:
        return None
    try:
        return absolute_url(base, clean(link))
    except InvalidUrl:
        return None


def _structured_availability(reading: ProductReading, choice: Choice) -> set[Availability]:
    """The availability in structured data of offers at the chosen price, or else of all offers."""
    unknown = {Availability.UNKNOWN}
    of_price = {one.offer.availability for one in choice.agreeing if one.offer} - unknown
    if of_price:
        return of_price
    of_all = {offer.availability for claim in reading.claims for offer in claim.offers()}
    return (of_all | {reading.facts.meta_tags.availability}) - unknown


def _quarantine(
    reason: QuarantineReason, why: str, reading: ProductReading, evidence: list[str]
) -> Quarantine:
    details = {
        "why": why,
        "title": reading.title,
        "candidates": candidate_rows(reading),
        "evidence": evidence,
    }
    return Quarantine(reason, details)
