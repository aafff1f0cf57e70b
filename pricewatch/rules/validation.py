"""What an offer or a card must have to be stored, and what becomes of one that has not."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pricewatch.items import Card, Drop, Offer, Ok, Quarantine
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.vocabulary import Availability, DropReason, QuarantineReason

MIN_CENTS = 1
LONGEST_URL = 2000
LONGEST_TITLE = 1000
LONGEST_TEXT = 1000
LONGEST_KEY = 255 + len("PID:")

# No database text may hold NUL, and no name holds a line feed or a direction mark.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
# Nearly all addresses, seen at a glance; the others are taken apart.
_PLAIN_URL = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?::\d+)?(?:/[!-~]*)?")
_TEXTS = ("title", "product_id", "sku", "gtin", "mpn", "brand", "location", "image")


def validate_offer(offer: Offer) -> Ok | Drop | Quarantine:
    """The offer with clean texts, or why not stored: the impossible is dropped, the doubtful is held."""
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
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "identity_key is too long to be one")
    return Ok(offer)


def validate_card(card: Card) -> Card | Drop:
    """The card with clean texts, or why it is dropped; it may show no price, but not an impossible one."""
    if changed := _clean_texts(card):
        card = replace(card, **changed)
    if not card.url or not card.title:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "title" if card.url else "url")
    if problem := _url_problem(card.url):
        return Drop(DropReason.INVALID_URL, problem)
    if card.availability is Availability.UNKNOWN:
        # Words that are not understood tell nothing of stock: the listing's own page decides.
        card = replace(card, availability=None)
    if card.price_cents is None:
        return replace(card, price_max_cents=None, currency=None)
    if not card.currency:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, "currency")
    if problem := _price_problem(card.price_cents, card.price_max_cents, card.currency):
        return Drop(DropReason.INVALID_PRICE, problem)
    return card


def _price_problem(cents: int, highest: int | None, currency: str) -> str:
    # A bool is an int to Python, not to a customer.
    if isinstance(cents, bool) or not isinstance(cents, int) or not MIN_CENTS <= cents <= MAX_CENTS:
        return f"{cents} is not between {MIN_CENTS} and {MAX_CENTS}"
    if currency not in ISO_4217:
        return f"{currency[:20]!r} is no ISO 4217 currency"
    if highest is not None and (highest > MAX_CENTS or Money(highest, currency) < Money(cents, currency)):
        return f"the highest price {highest} is not between {cents} and {MAX_CENTS}"
    return ""


def _url_problem(url: str) -> str:
    if len(url) > LONGEST_URL:
        return f"{len(url)} characters, at most {LONGEST_URL} are kept"
    if _PLAIN_URL.fullmatch(url):
        return ""
    if _CONTROL.search(url) or " " in url:
        return "it has spaces or control characters"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return f"{url[:80]!r} is no web address"
    return "" if host else "it has no host"


def _clean_texts(item: Offer | Card) -> dict[str, Any]:
    """The texts of an item that need to change: control characters out, spaces squashed, the overlong cut."""
    changed: dict[str, Any] = {}
    for name in _TEXTS:
        value = getattr(item, name, None)
        if isinstance(value, str) and not _is_tidy(value):
            longest = LONGEST_URL if name == "image" else LONGEST_TITLE if name == "title" else LONGEST_TEXT
            clean = " ".join(_CONTROL.sub(" ", value).split())
            # A cut address leads nowhere; a cut name is still a name.
            clean = "" if name == "image" and len(clean) > longest else clean[:longest].rstrip()
            if clean != value:
                changed[name] = clean if clean or name == "title" else None
    seller = item.seller
    if seller is not None and _CONTROL.search(f"{seller.id}{seller.name}"):
        changed["seller"] = replace(seller, id=_plain(seller.id), name=_plain(seller.name))
    if item.attributes:
        changed["attributes"] = _plain(item.attributes)
    return changed


def _is_tidy(value: str) -> bool:
    """Nearly all texts are, and that is cheap to see: printable, short, no space too many."""
    return (
        value.isprintable() and 0 < len(value) <= LONGEST_KEY and "  " not in value and value == value.strip()
    )


def _plain(value: Any) -> Any:
    """A value of open JSON without the characters that no database text may hold."""
    if isinstance(value, str):
        return " ".join(_CONTROL.sub(" ", value).split()) if _CONTROL.search(value) else value
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
