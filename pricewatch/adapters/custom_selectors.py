"""An adapter with the custom selectors of a target, which take precedence over the site's adapter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cssselect import SelectorError
from lxml.etree import XPathSyntaxError  # type: ignore[import-untyped]
from parsel import Selector, css2xpath
from scrapy.http import TextResponse, XmlResponse

from pricewatch.adapters.base import Adapter, Presence, PresenceEvidence
from pricewatch.items import Drop, Extracted, ExtractFailure, Offer, Ok, Quarantine
from pricewatch.money import ISO_4217
from pricewatch.parsing.pages.availability import schema_availability, text_availability
from pricewatch.parsing.pages.displayed_price import tag_text
from pricewatch.parsing.pages.element_tree import is_in_undisplayed
from pricewatch.parsing.prices.currency_marks import PIECE_BREAK
from pricewatch.parsing.prices.price import ParsedPrice, PriceRefusal, parse_price, to_cents
from pricewatch.parsing.text import clean
from pricewatch.parsing.xpath_check import check_xpath
from pricewatch.rules.price_options import evidence_availability
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

# `currency` is a code, not a selector: the page may display a bare number.
SELECTOR_NAMES = ("price", "title", "availability", "currency")
MAX_LENGTH = 500
# In the details of a quarantined page: a script may add what the selector did not find.
MAY_NEED_BROWSER = "may_need_browser"
_MAX_MATCHES = 100
_XPATH = re.compile(r"\s*(?:xpath:|\.?/|\()")
_UNREADABLE = frozenset({FailureReason.BLOCKED_PAGE, FailureReason.EMPTY_PAGE})


def check_selectors(selectors: Mapping[str, str]) -> str | None:
    """The first problem of these selectors, or None if they are valid."""
    for name, selector in selectors.items():
        if name not in SELECTOR_NAMES:
            return f"there is no selector {name!r}; known are {', '.join(SELECTOR_NAMES)}"
        if name == "currency":
            if selector not in ISO_4217:
                return f"{selector[:20]!r} is not a currency code. Example: EUR"
            continue
        if not selector.strip() or len(selector) > MAX_LENGTH or not selector.isprintable():
            return f"the selector for {name} is empty, longer than {MAX_LENGTH}, or has control characters"
        try:
            _check_syntax(selector)
        except (ValueError, SelectorError, XPathSyntaxError) as error:
            return f"the selector for {name} is not valid ({(str(error).splitlines() or ['?'])[0]})"
    return None


def _check_syntax(selector: str) -> None:
    """Raise an exception if a selector is not valid; nothing is evaluated, because that may take forever."""
    if _XPATH.match(selector):
        check_xpath(selector.strip().removeprefix("xpath:"))
    else:
        check_xpath(css2xpath(selector.strip().removeprefix("css:")))


class CustomSelectorAdapter(Adapter):
    """Reads fields that have a custom selector with it, and all others with the site's adapter."""

    uses_selectors = True

    def __init__(self, inner: Adapter, selectors: Mapping[str, str]):
        self.expected_currency = selectors.get("currency")
        self.inner = inner.in_currency(self.expected_currency) if self.expected_currency else inner
        self.selectors = selectors
        self.price_place = inner.price_place
        # Stored rows name the inner adapter; the selectors are stored with the target.
        self.id, self.version, self.domain = inner.id, inner.version, inner.domain  # type: ignore[misc]
        self.requires_js = inner.requires_js  # type: ignore[misc]
        self.page_data = inner.page_data  # type: ignore[misc]
        self.presence_needs_page = inner.presence_needs_page  # type: ignore[misc]

    def with_price_place(self, selector: str) -> Adapter:
        inner = self.inner.with_price_place(selector)
        return self if inner is self.inner else CustomSelectorAdapter(inner, self.selectors)

    def normalize(self, offer: Offer) -> Ok | Drop | Quarantine:
        return self.inner.normalize(offer)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        return self.inner.presence(response)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        found = self.inner.extract(response)
        if isinstance(found, ExtractFailure) and found.reason in _UNREADABLE:
            return found
        document = _document(response)
        css_or_xpath = {name: selector for name, selector in self.selectors.items() if name != "currency"}
        texts = {name: clean(_select(document, selector) or "") for name, selector in css_or_xpath.items()}
        evidence = [f"{name}: {self.selectors[name]} = {text[:MAX_LENGTH]}" for name, text in texts.items()]
        availability, why = _availability(found, texts.get("availability"))
        for name, text in texts.items():
            if text:
                continue
            if name == "price" and availability is Availability.OUT_OF_STOCK:
                return ExtractFailure(FailureReason.OOS_NO_PRICE, why, evidence)
            return self._unmatched(response, found, f"{name}: nothing at {css_or_xpath[name]}", evidence)
        if "price" not in texts:
            if isinstance(found, Extracted) and self.expected_currency not in (None, found.offer.currency):
                return self._contradiction(found.offer.currency, evidence)
            return _with_texts(found, texts, availability, [*evidence, why])
        shown = texts["price"][:MAX_LENGTH]
        price = self._price(found, _price_text(document, css_or_xpath["price"]))
        if price.refusal is PriceRefusal.ZERO:
            return Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED, {"evidence": evidence})
        if price.amount is None:
            return ExtractFailure(FailureReason.PRICE_NOT_FOUND, f"{shown}: {price.refusal}", evidence)
        cents = to_cents(price.amount, price.currency) if price.currency else None
        if cents is None or price.currency is None:
            return ExtractFailure(
                FailureReason.PRICE_NOT_FOUND,
                f"the currency of {texts['price'][:MAX_LENGTH]} is not known",
                evidence,
            )
        if self.expected_currency not in (None, price.currency):
            return self._contradiction(price.currency, evidence)
        offer = found.offer if isinstance(found, Extracted) else None
        title = texts.get("title") or (offer.title if offer else _heading(document))
        if not title:
            return ExtractFailure(
                FailureReason.TITLE_NOT_FOUND, "the page has a price but no title", evidence
            )
        priced = replace(
            offer or Offer(url=response.url, title="", price_cents=0, currency="", availability=availability),
            title=title,
            price_cents=cents,
            price_max_cents=None,
            currency=price.currency,
            availability=availability,
        )
        return Extracted(priced, [*evidence, why])

    def _unmatched(
        self,
        response: TextResponse,
        found: Extracted | ExtractFailure | Quarantine,
        why: str,
        evidence: list[str],
    ) -> ExtractFailure | Quarantine:
        """Quarantine a product page on which a selector matches nothing: the selector needs a fix."""
        if isinstance(found, ExtractFailure) and self.presence(response).presence is not Presence.ALIVE:
            return ExtractFailure(FailureReason.SELECTOR_NOT_FOUND, why, evidence, found.may_need_browser)
        details: dict[str, Any] = {"why": why, "evidence": evidence}
        if isinstance(found, ExtractFailure) and found.may_need_browser:
            details[MAY_NEED_BROWSER] = True
        return Quarantine(QuarantineReason.SELECTOR_FAILURE, details)

    def _contradiction(self, currency: str, evidence: list[str]) -> Quarantine:
        why = f"the page gives its price in {currency}, but {self.expected_currency} is expected"
        return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, {"why": why, "evidence": evidence})

    def _price(self, found: Extracted | ExtractFailure | Quarantine, text: str) -> ParsedPrice:
        read = parse_price(text, self.expected_currency)
        if read.currency is None and not read.marked and isinstance(found, Extracted):
            # A bare number is in the currency of the price that the inner adapter read.
            return parse_price(text, found.offer.currency)
        return read


def _with_texts(
    found: Extracted | ExtractFailure | Quarantine,
    texts: Mapping[str, str],
    availability: Availability,
    evidence: list[str],
) -> Extracted | ExtractFailure | Quarantine:
    if not isinstance(found, Extracted):
        return found
    title = texts.get("title") or found.offer.title
    offer = replace(found.offer, title=title, availability=availability)
    return Extracted(offer, [*evidence, *found.evidence], found.price_place)


def _availability(
    found: Extracted | ExtractFailure | Quarantine, text: str | None
) -> tuple[Availability, str]:
    if text:
        text = text[:MAX_LENGTH]
        state = schema_availability(text)
        state = state if state is not Availability.UNKNOWN else text_availability(text)
        return state, f"availability: {state} ({text})"
    if isinstance(found, Extracted):
        return found.offer.availability, f"availability: {found.offer.availability} (adapter)"
    # The availability may be certain although the price is ambiguous; the evidence has it.
    evidence = found.details.get("evidence", []) if isinstance(found, Quarantine) else found.evidence
    return evidence_availability(evidence) or (Availability.UNKNOWN, "availability: not stated on the page")


def _document(response: TextResponse) -> Selector:
    """The page; `response.selector` would refuse JSON, and pages whose base address is invalid."""
    return Selector(text=response.text, type="xml" if isinstance(response, XmlResponse) else "html")


def _heading(document: Selector) -> str:
    return clean(" ".join(document.xpath("(//h1)[1]//text()").getall()))


def _first(root: Selector, selector: str) -> Selector | None:
    """The first match; a selector is CSS unless it looks like XPath."""
    if _XPATH.match(selector):
        found = root.xpath(selector.strip().removeprefix("xpath:"))
    else:
        found = root.css(selector.strip().removeprefix("css:"))
    return next(filter(_is_displayed, found[:_MAX_MATCHES]), next(iter(found), None))


def _is_displayed(match: Selector) -> bool:
    return not hasattr(match.root, "tag") or not is_in_undisplayed(match.root)


def _select(root: Selector, selector: str) -> str | None:
    """The text of the first match, or its `content` attribute."""
    match = _first(root, selector)
    if match is None or not hasattr(match.root, "tag"):
        return None if match is None else str(match.get())
    return match.root.get("content") or match.xpath("string()").get()


def _price_text(root: Selector, selector: str) -> str:
    """Like `_select`, but digits of two elements never form one number."""
    match = _first(root, selector)
    if match is None or not hasattr(match.root, "tag") or match.root.get("content"):
        return _select(root, selector) or ""
    return tag_text(match.root) or PIECE_BREAK.join(match.root.itertext())
