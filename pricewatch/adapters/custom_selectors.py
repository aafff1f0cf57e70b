"""An adapter with a person's own selectors on top: where the person points, nobody else decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cssselect import SelectorError
from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter, Presence, PresenceEvidence
from pricewatch.items import Drop, Extracted, ExtractFailure, Offer, Ok, Quarantine
from pricewatch.money import ISO_4217
from pricewatch.parsing.pages.availability import schema_availability, text_availability
from pricewatch.parsing.pages.displayed_price import tag_text
from pricewatch.parsing.prices.currency_marks import PIECE
from pricewatch.parsing.prices.price import ParsedPrice, PriceRefusal, parse_price, to_cents
from pricewatch.parsing.text import clean
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

# `currency` is no selector: a page that shows a bare number cannot be asked for its currency.
NAMES = ("price", "title", "availability", "currency")
LONGEST = 500
_XPATH = re.compile(r"\s*(?:xpath:|\.?/|\()")
_NO_PAGE = frozenset({FailureReason.BLOCKED_PAGE, FailureReason.EMPTY_PAGE})
_EVIDENCE_OF_STOCK = re.compile(r"availability: ([A-Z_]+)")


def check_selectors(selectors: Mapping[str, str]) -> str | None:
    """Why these cannot be used, or None where they can."""
    for name, selector in selectors.items():
        if name not in NAMES:
            return f"there is no selector {name!r}; known are {', '.join(NAMES)}"
        if name == "currency":
            if selector not in ISO_4217:
                return f"{selector[:20]!r} is no currency code such as EUR"
            continue
        if not selector.strip() or len(selector) > LONGEST or not selector.isprintable():
            return f"the selector for {name} is empty, has control characters or more than {LONGEST} letters"
        try:
            _select(Selector("<p></p>"), selector)
        except (ValueError, SelectorError) as error:
            return f"the selector for {name} cannot be read ({(str(error).splitlines() or ['?'])[0]})"
    return None


class CustomSelectorAdapter(Adapter):
    """Reads what it has a selector for by that, and everything else as the site's adapter does."""

    def __init__(self, inner: Adapter, selectors: Mapping[str, str]):
        self.given_currency = selectors.get("currency")
        self.inner = inner.in_currency(self.given_currency) if self.given_currency else inner
        self.selectors = selectors
        # What is stored names the adapter behind it; the selectors are kept with the target.
        self.id, self.version, self.domain = inner.id, inner.version, inner.domain  # type: ignore[misc]
        self.requires_js = inner.requires_js  # type: ignore[misc]
        self.page_data = inner.page_data  # type: ignore[misc]
        self.presence_needs_page = inner.presence_needs_page  # type: ignore[misc]

    def normalize(self, offer: Offer) -> Ok | Drop | Quarantine:
        return self.inner.normalize(offer)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        return self.inner.presence(response)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        found = self.inner.extract(response)
        if isinstance(found, ExtractFailure) and found.reason in _NO_PAGE:
            return found
        pointed = {name: selector for name, selector in self.selectors.items() if name != "currency"}
        texts = {
            name: clean(_select(response.selector, selector) or "") for name, selector in pointed.items()
        }
        evidence = [f"{name}: {self.selectors[name]} = {text}" for name, text in texts.items()]
        availability, why = _availability(found, texts.get("availability"))
        for name, text in texts.items():
            if text:
                continue
            if name == "price" and availability is Availability.OUT_OF_STOCK:
                return ExtractFailure(FailureReason.OOS_NO_PRICE, why, evidence)
            return self._unmatched(response, found, f"{name}: nothing at {pointed[name]}", evidence)
        if "price" not in texts:
            if isinstance(found, Extracted) and self.given_currency not in (None, found.offer.currency):
                return self._contradiction(found.offer.currency, evidence)
            return _with_texts(found, texts, availability, [*evidence, why])
        price = self._price(found, _price_text(response.selector, pointed["price"]))
        if price.refusal is PriceRefusal.ZERO:
            return Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED, {"evidence": evidence})
        if price.amount is None:
            return ExtractFailure(
                FailureReason.PRICE_NOT_FOUND, f"{texts['price']}: {price.refusal}", evidence
            )
        cents = to_cents(price.amount, price.currency) if price.currency else None
        if cents is None or price.currency is None:
            return ExtractFailure(
                FailureReason.PRICE_NOT_FOUND, f"nothing says which currency {texts['price']} is in", evidence
            )
        if self.given_currency not in (None, price.currency):
            return self._contradiction(price.currency, evidence)
        offer = found.offer if isinstance(found, Extracted) else None
        title = texts.get("title") or (offer.title if offer else _heading(response))
        if not title:
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "a price, but no name", evidence)
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
        """A product's page on which a selector finds nothing is held: the selector is to be mended."""
        if isinstance(found, ExtractFailure) and self.presence(response).presence is not Presence.ALIVE:
            return ExtractFailure(FailureReason.SELECTOR_NOT_FOUND, why, evidence)
        return Quarantine(QuarantineReason.SELECTOR_FAILURE, {"why": why, "evidence": evidence})

    def _contradiction(self, currency: str, evidence: list[str]) -> Quarantine:
        why = f"the page gives its price in {currency}, but {self.given_currency} was given for it"
        return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, {"why": why, "evidence": evidence})

    def _price(self, found: Extracted | ExtractFailure | Quarantine, text: str) -> ParsedPrice:
        read = parse_price(text, self.given_currency)
        if read.currency is None and not read.marked and isinstance(found, Extracted):
            # A bare number is in the currency that the rest of the page gives its price in.
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
    return Extracted(offer, [*evidence, *found.evidence])


def _availability(
    found: Extracted | ExtractFailure | Quarantine, text: str | None
) -> tuple[Availability, str]:
    if text:
        said = schema_availability(text)
        said = said if said is not Availability.UNKNOWN else text_availability(text)
        return said, f"availability: {said} ({text})"
    if isinstance(found, Extracted):
        return found.offer.availability, f"availability: {found.offer.availability} (adapter)"
    # An adapter that is in doubt about the price can be sure about the stock, and says so.
    told = found.details.get("evidence", []) if isinstance(found, Quarantine) else found.evidence
    for line in told:
        if (match := _EVIDENCE_OF_STOCK.match(str(line))) and match[1] in Availability.__members__:
            return Availability(match[1]), str(line)
    return Availability.UNKNOWN, "availability: nothing on the page says so"


def _heading(response: TextResponse) -> str:
    return clean(" ".join(response.xpath("(//h1)[1]//text()").getall()))


def _first(root: Selector, selector: str) -> Selector | None:
    """The first match; CSS unless it looks like XPath."""
    if _XPATH.match(selector):
        found = root.xpath(selector.strip().removeprefix("xpath:"))
    else:
        found = root.css(selector.strip().removeprefix("css:"))
    return next(iter(found), None)


def _select(root: Selector, selector: str) -> str | None:
    """The text of the first match, or the `content` of a meta tag."""
    one = _first(root, selector)
    if one is None or not hasattr(one.root, "tag"):
        return None if one is None else str(one.get())
    return one.root.get("content") or one.xpath("string()").get()


def _price_text(root: Selector, selector: str) -> str:
    """The same for a price, but digits of two elements never run into one number."""
    one = _first(root, selector)
    if one is None or not hasattr(one.root, "tag") or one.root.get("content"):
        return _select(root, selector) or ""
    return tag_text(one.root) or PIECE.join(one.root.itertext())
