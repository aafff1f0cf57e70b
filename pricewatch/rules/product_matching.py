"""Match listings to products: by a trusted GTIN, else by brand and part number, else by a fingerprint."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

# Placeholders that sellers enter instead of a number or a brand.
_PLACEHOLDERS = frozenset(
    {
        "na", "none", "null", "unknown", "doesnotapply", "notapplicable", "nothing", "test", "unbranded",
        "generic", "noname", "nobrand"
    }
)  # fmt: skip
_LEGAL_FORMS = frozenset(
    {
        "gmbh", "ag", "kg", "co", "inc", "ltd", "llc", "corp", "corporation", "company", "srl", "sas", "bv",
        "ab", "oy", "spa", "plc"
    }
)  # fmt: skip
_FILLER = frozenset(
    {
        "the", "a", "an", "and", "or", "of", "for", "with", "in", "new", "neu", "neue", "neuer", "neues",
        "top", "sale", "original", "der", "die", "das", "und", "mit", "fur", "von", "im", "le", "la", "les",
        "de", "du", "des", "et", "pour", "avec", "nouveau"
    }
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
LEAST_WORDS = 3
LEAST_PART_NUMBER = 3


class LinkedBy(StrEnum):
    GTIN = "gtin"
    BRAND_MPN = "brand_mpn"
    FINGERPRINT = "fingerprint"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Facts:
    """The identifying fields of a listing; `trusted` says whether its source's identifiers are trusted."""

    title: str
    brand: str | None = None
    mpn: str | None = None
    gtin: str | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that identify the product, strongest first, and notes on why a key is not used."""

    gtin: str | None = None
    brand_mpn: str | None = None
    fingerprint: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_strong(self) -> bool:
        return self.gtin is not None or self.brand_mpn is not None


@dataclass(frozen=True, slots=True)
class Link:
    """How a listing is linked to a product; `key` is None if it is linked to none."""

    by: LinkedBy
    why: str
    key: str | None = None


def gtin14(text: str | None) -> str | None:
    """Return a GTIN of any length as 14 digits; None if its check digit is wrong or it is not unique."""
    digits = re.sub(r"[\s-]", "", text or "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) not in (8, 12, 13, 14):
        return None
    full = digits.zfill(14)
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(full[:-1]))
    if -total % 10 != int(full[-1]) or not int(full):
        return None
    inner = full[1:]
    # Prefixes reserved for numbers that shops assign themselves.
    restricted = inner.startswith(("2", "02", "04")) and len(digits) > 8
    return None if restricted else full


def normalized_words(text: str | None) -> list[str]:
    """Return the words and numbers in lower case without accents."""
    folded = (text or "").casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(folded)


def brand_key(brand: str | None) -> str | None:
    words = normalized_words(brand)
    words = [word for word in words if word not in _LEGAL_FORMS] or words
    key = "".join(words)
    return key if key and key not in _PLACEHOLDERS else None


def mpn_key(mpn: str | None) -> str | None:
    """Return a part number without punctuation; None if it is too short or has no digit."""
    key = "".join(normalized_words(mpn))
    useful = len(key) >= LEAST_PART_NUMBER and any(char.isdigit() for char in key) and key.strip("0")
    return key if useful and key not in _PLACEHOLDERS else None


def fingerprint(title: str, brand: str | None) -> str | None:
    """Return the brand and the sorted words of a title; None if they would match too many products."""
    words = {word for word in normalized_words(title) if word not in _FILLER}
    name = brand_key(brand)
    others = words - set(normalized_words(brand))
    has_number = any(char.isdigit() for word in others for char in word)
    if name is None or len(others) < LEAST_WORDS or not has_number:
        return None
    return f"{name}|{' '.join(sorted(others))}"


def keys_of(facts: Facts) -> Keys:
    notes: list[str] = []
    gtin = gtin14(facts.gtin)
    if facts.gtin and gtin is None:
        notes.append(f"the GTIN {facts.gtin} has a wrong check digit or is a number internal to the shop")
    elif gtin and not facts.trusted:
        notes.append(f"the GTIN {facts.gtin} is not used: identifiers of this source are not trusted")
        gtin = None
    brand, mpn = brand_key(facts.brand), mpn_key(facts.mpn)
    if facts.mpn and mpn is None:
        notes.append(f"the part number {facts.mpn} is too unspecific")
    elif mpn and brand is None:
        notes.append(f"the part number {facts.mpn} has no known brand")
    pair = f"{brand} {mpn}" if brand and mpn else None
    return Keys(gtin, pair, fingerprint(facts.title, facts.brand), tuple(notes))


def link(keys: Keys, gtins: Collection[str] = (), products: Collection[str] = ()) -> Link:
    """Link by the strongest key. The result depends only on the current listings, so it is deterministic.

    `gtins` are the GTINs of trusted listings with the same brand and part number; `products` are the keys of
    products of listings with the same fingerprint and a stronger key.
    """
    if keys.gtin:
        return Link(LinkedBy.GTIN, f"GTIN {keys.gtin}, from a trusted source", f"gtin:{keys.gtin}")
    if keys.brand_mpn:
        why = f"brand and part number {keys.brand_mpn}"
        if len(gtins) > 1:
            return Link(LinkedBy.NOTHING, f"{why} match {len(gtins)} products")
        for gtin in gtins:
            return Link(LinkedBy.BRAND_MPN, f"{why}, which has the GTIN {gtin} elsewhere", f"gtin:{gtin}")
        return Link(LinkedBy.BRAND_MPN, why, f"mpn:{keys.brand_mpn}")
    if keys.fingerprint:
        why = f"the same words: {keys.fingerprint}"
        if len(products) > 1:
            return Link(LinkedBy.NOTHING, f"{why} match {len(products)} products")
        for product in products:
            return Link(LinkedBy.FINGERPRINT, why, product)
        return Link(LinkedBy.FINGERPRINT, why, f"words:{keys.fingerprint}")
    why = "no trusted GTIN, no brand with a part number, and too few words to identify the product"
    return Link(LinkedBy.NOTHING, why)
