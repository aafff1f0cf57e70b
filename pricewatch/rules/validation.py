"""Validate offers and cards: accept, drop or quarantine them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pricewatch.items import Card, Drop, Observation, Offer, Ok, Quarantine
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.vocabulary import Availability, DropReason, QuarantineReason

MIN_CENTS = 1
LONGEST_URL = 2000
LONGEST_TITLE = 1000
LONGEST_TEXT = 1000
LONGEST_KEY = 255 + len("PID:")

# PostgreSQL text cannot contain NUL, and names contain no line feeds or direction marks.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
# Matches nearly all URLs quickly; the others are parsed.
_COMMON_URL = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?::\d+)?(?:/[!-~]*)?")
_TEXTS = ("title", "product_id", "sku", "gtin", "mpn", "brand", "location", "image")


def validate_offer(offer: Offer) -> Ok | Drop | Quarantine:
    """Return the offer with cleaned texts, or why it is dropped (invalid) or quarantined (doubtful)."""
    offer = replace(offer, **_clean_texts(offer))
    missing = [name for name in ("url", "title", "currency") if not getattr(offer, name)]
    if missing:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, ", ".join(missing))
    if problem := _url_problem(offer.url):
        return Drop(DropReason.INVALID_URL, problem)
    if offer.price_cents == 0:
        return Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED, {"price_cents": 0}, offer)
    if problem := _price_problem(offer.price_cents, offer.price_max_cents, offer.currency):
        return Drop(DropReason.INVALID_PRICE, problem)
    if offer.shipping_cents is not None and not 0 <= offer.shipping_cents <= MAX_CENTS:
        offer = replace(offer, shipping_cents=None)
    if offer.availability is Availability.UNKNOWN:
        return Drop(DropReason.UNKNOWN_AVAILABILITY)
    if len(offer.identity_key) > LONGEST_KEY:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "identity_key is too long")
    return Ok(offer)


def validate_card(card: Card) -> Card | Drop:
    """Return the card with cleaned texts, or why it is dropped; its price may be missing but not invalid."""
    if changed := _clean_texts(card):
        card = replace(card, **changed)
    if not card.url or not card.title:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "title" if card.url else "url")
    if problem := _url_problem(card.url):
        return Drop(DropReason.INVALID_URL, problem)
    if card.availability is Availability.UNKNOWN:
        # The stock text was not recognized: the product page decides.
        card = replace(card, availability=None)
    if card.price_cents is None:
        return replace(card, price_max_cents=None, currency=None)
    if not card.currency:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "currency")
    if problem := _price_problem(card.price_cents, card.price_max_cents, card.currency):
        return Drop(DropReason.INVALID_PRICE, problem)
    return card


def _price_problem(cents: int, highest: int | None, currency: str) -> str:
    # bool is a subclass of int, but not a price.
    if isinstance(cents, bool) or not isinstance(cents, int) or not MIN_CENTS <= cents <= MAX_CENTS:
        return f"{cents} is not between {MIN_CENTS} and {MAX_CENTS}"
    if currency not in ISO_4217:
        return f"{currency[:20]!r} is not an ISO 4217 currency"
    if highest is not None and (highest > MAX_CENTS or Money(highest, currency) < Money(cents, currency)):
        return f"the highest price {highest} is not between {cents} and {MAX_CENTS}"
    return ""


def _url_problem(url: str) -> str:
    if len(url) > LONGEST_URL:
        return f"{len(url)} characters; the limit is {LONGEST_URL}"
    if _COMMON_URL.fullmatch(url):
        return ""
    if _CONTROL.search(url) or " " in url:
        return "it has spaces or control characters"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return f"{url[:80]!r} is not an http or https URL"
    return "" if host else "it has no host"


def _clean_texts(item: Observation) -> dict[str, Any]:
    """Return the texts that change: control characters removed, spaces collapsed, long texts truncated."""
    changed: dict[str, Any] = {}
    for name in _TEXTS:
        value = getattr(item, name, None)
        if isinstance(value, str) and not _is_clean(value):
            longest = LONGEST_URL if name == "image" else LONGEST_TITLE if name == "title" else LONGEST_TEXT
            clean = " ".join(_CONTROL.sub(" ", value).split())
            # A truncated URL is useless; a truncated name is still readable.
            clean = "" if name == "image" and len(clean) > longest else clean[:longest].rstrip()
            if clean != value:
                changed[name] = clean if clean or name == "title" else None
    seller = item.seller
    if seller is not None:
        short = replace(seller, id=_clean_text(seller.id), name=seller.name and _clean_text(seller.name))
        if short != seller:
            changed["seller"] = short
    if item.attributes:
        changed["attributes"] = _clean_json(item.attributes)
    return changed


def _is_clean(value: str) -> bool:
    """Return whether a text needs no cleaning, by a cheap check that most texts pass."""
    return (
        value.isprintable() and 0 < len(value) <= LONGEST_KEY and "  " not in value and value == value.strip()
    )


def _clean_text(text: str) -> str:
    return str(_clean_json(text[:LONGEST_TEXT]))


def _clean_json(value: Any) -> Any:
    """Return a JSON value without control characters, which the database does not accept."""
    if isinstance(value, str):
        return " ".join(_CONTROL.sub(" ", value).split()) if _CONTROL.search(value) else value
    if isinstance(value, dict):
        return {_clean_json(key): _clean_json(one) for key, one in value.items()}
    return [_clean_json(one) for one in value] if isinstance(value, list) else value
