"""Which product a listing is: by a trusted GTIN, else by brand and part number, else by a fingerprint."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

# What people write where they have no number.
_NO_NUMBER = frozenset(
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
    """What a listing says about what it is; `trusted` is what its source is trusted with."""

    title: str
    brand: str | None = None
    mpn: str | None = None
    gtin: str | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """What may be compared, strongest first, and why something may not."""

    gtin: str | None = None
    brand_mpn: str | None = None
    fingerprint: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_strong(self) -> bool:
        return self.gtin is not None or self.brand_mpn is not None


@dataclass(frozen=True, slots=True)
class Link:
    """How a listing is tied to a product: the product's key, or none where nothing ties it to any."""

    by: LinkedBy
    why: str
    key: str | None = None


def gtin14(text: str | None) -> str | None:
    """A GTIN of any length as 14 digits, where its check digit is right and it is unique in the world."""
    digits = re.sub(r"[\s-]", "", text or "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) not in (8, 12, 13, 14):
        return None
    full = digits.zfill(14)
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(full[:-1]))
    if -total % 10 != int(full[-1]) or not int(full):
        return None
    inner = full[1:]
    # Numbers that a shop may give out as it likes.
    restricted = inner.startswith(("2", "02", "04")) and len(digits) > 8
    return None if restricted else full


def plain_words(text: str | None) -> list[str]:
    """Words and numbers in small letters without accents."""
    folded = (text or "").casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(folded)


def brand_key(brand: str | None) -> str | None:
    words = plain_words(brand)
    kept = [word for word in words if word not in _LEGAL_FORMS] or words
    key = "".join(kept)
    return key if key and key not in _NO_NUMBER else None


def mpn_key(mpn: str | None) -> str | None:
    """A part number without punctuation; one without a digit may be anything."""
    key = "".join(plain_words(mpn))
    useful = len(key) >= LEAST_PART_NUMBER and any(char.isdigit() for char in key) and key.strip("0")
    return key if useful and key not in _NO_NUMBER else None


def fingerprint(title: str, brand: str | None) -> str | None:
    """The words of a title in any order, with the brand; None where they would fit too many things."""
    words = {word for word in plain_words(title) if word not in _FILLER}
    name = brand_key(brand)
    others = words - set(plain_words(brand))
    has_number = any(char.isdigit() for word in others for char in word)
    if name is None or len(others) < LEAST_WORDS or not has_number:
        return None
    return f"{name}|{' '.join(sorted(others))}"


def keys_of(facts: Facts) -> Keys:
    notes: list[str] = []
    gtin = gtin14(facts.gtin)
    if facts.gtin and gtin is None:
        notes.append(f"the GTIN {facts.gtin} has a wrong check digit or is one of the shop's own")
    elif gtin and not facts.trusted:
        notes.append(f"the GTIN {facts.gtin} is not used: this source is not trusted with identifiers")
        gtin = None
    brand, mpn = brand_key(facts.brand), mpn_key(facts.mpn)
    if facts.mpn and mpn is None:
        notes.append(f"the part number {facts.mpn} says too little")
    elif mpn and brand is None:
        notes.append(f"the part number {facts.mpn} is of no known brand")
    pair = f"{brand} {mpn}" if brand and mpn else None
    return Keys(gtin, pair, fingerprint(facts.title, facts.brand), tuple(notes))


def link(keys: Keys, gtins: Collection[str] = (), products: Collection[str] = ()) -> Link:
    """The strongest key decides, by nothing but what all listings say now: so it is the same every time.

    `gtins` are those that trusted listings with the same brand and part number have; `products` are the keys
    of the products of listings with the same words and something stronger than that.
    """
    if keys.gtin:
        return Link(LinkedBy.GTIN, f"GTIN {keys.gtin}, from a trusted source", f"gtin:{keys.gtin}")
    if keys.brand_mpn:
        why = f"brand and part number {keys.brand_mpn}"
        if len(gtins) > 1:
            return Link(LinkedBy.NOTHING, f"{why} fit {len(gtins)} products")
        for gtin in gtins:
            return Link(LinkedBy.BRAND_MPN, f"{why}, which has the GTIN {gtin} elsewhere", f"gtin:{gtin}")
        return Link(LinkedBy.BRAND_MPN, why, f"mpn:{keys.brand_mpn}")
    if keys.fingerprint:
        why = f"the same words: {keys.fingerprint}"
        if len(products) > 1:
            return Link(LinkedBy.NOTHING, f"{why} fit {len(products)} products")
        for product in products:
            return Link(LinkedBy.FINGERPRINT, why, product)
        return Link(LinkedBy.FINGERPRINT, why, f"words:{keys.fingerprint}")
    why = "no trusted GTIN, no brand with a part number, and too few words to tell it from others"
    return Link(LinkedBy.NOTHING, why)
