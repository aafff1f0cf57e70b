"""Availability from schema.org values and from phrases of shops.

A product is in stock only if a phrase says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache

from pricewatch.parsing.pages.button_words import BUY, CONTACT
from pricewatch.parsing.pages.delivery_words import DELIVERY, OTHER_PROMISE, TIME
from pricewatch.parsing.pages.stock_counts import LABELS_AFTER, LABELS_BEFORE, pieces_in_stock
from pricewatch.parsing.pages.stock_words import (
    BACK,
    IN,
    NEARLY_OUT,
    OTHER_SUBJECT,
    OUT,
    POSSIBLE_BACKORDER,
)
from pricewatch.parsing.phrase_stems import stems
from pricewatch.parsing.prices.not_money import MONTHS
from pricewatch.parsing.text import collapse_spaces
from pricewatch.vocabulary import Availability

_SCHEMA = {
    "instock": Availability.IN_STOCK,
    "instoreonly": Availability.IN_STOCK,
    "onlineonly": Availability.IN_STOCK,
    "limitedavailability": Availability.IN_STOCK,
    "reserved": Availability.OUT_OF_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "discontinued": Availability.OUT_OF_STOCK,
    "soldout": Availability.OUT_OF_STOCK,
    "preorder": Availability.BACKORDER,
    "presale": Availability.BACKORDER,
    "backorder": Availability.BACKORDER,
    "madetoorder": Availability.BACKORDER,
    # Values of Facebook's and Google's product feeds, which meta tags use.
    "available": Availability.IN_STOCK,
    "availablefororder": Availability.BACKORDER,
    "pending": Availability.OUT_OF_STOCK,
    "oos": Availability.OUT_OF_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "notavailable": Availability.OUT_OF_STOCK,
    # Values that shops write instead.
    "instocks": Availability.IN_STOCK,
    "stock": Availability.IN_STOCK,
    "lowstock": Availability.IN_STOCK,
    "lowinstock": Availability.IN_STOCK,
    "limitedstock": Availability.IN_STOCK,
    "instockonline": Availability.IN_STOCK,
    "availableonline": Availability.IN_STOCK,
    "availablenow": Availability.IN_STOCK,
    "outstock": Availability.OUT_OF_STOCK,
    "nostock": Availability.OUT_OF_STOCK,
    "notinstock": Availability.OUT_OF_STOCK,
    "outofstockonline": Availability.OUT_OF_STOCK,
    "temporarilyoutofstock": Availability.OUT_OF_STOCK,
    "temporarilyunavailable": Availability.OUT_OF_STOCK,
    "currentlyunavailable": Availability.OUT_OF_STOCK,
    "nolongeravailable": Availability.OUT_OF_STOCK,
    "sold": Availability.OUT_OF_STOCK,
    "comingsoon": Availability.OUT_OF_STOCK,
    "preordered": Availability.BACKORDER,
    "backordered": Availability.BACKORDER,
    "onbackorder": Availability.BACKORDER,
    "availableonbackorder": Availability.BACKORDER,
    "availabletoorder": Availability.BACKORDER,
    "onorder": Availability.BACKORDER,
}

# A promise of delivery is one sentence or one item of a list; "5. März" does not end a sentence.
_CLAUSE_END = re.compile(r"[;|!?•·。]|(?<=\w{4})\.(?= |$)")
_MAX_PROMISE_LENGTH = 300
_MAX_TEXT_LENGTH = 2_000
_DAY_AND_WORD = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th|er)?[\s.]{0,2}(?:de )?([^\W\d_]{3,12})|([^\W\d_]{3,12})[\s.]{0,2}\d{1,2}(?!\d)"
)

_STORE = re.compile(
    r"\b(?:stores?|branch|filiale|markt|magasin|boutique|tienda|negozio|punto vendita|loja|winkel|filiaal|"
    r"sklep|salon|prodejna|predajňa|pobočka|áruház|üzlet|magazin(?:ul)?|poslovnica|butik|varehus|varuhus|myymälä|"
    r"kauplus|veikals|parduotuvė|магазин\w*|κατάστημα|mağaza\w*)\b|店舗|门店|門市|매장"
)


@cache
def _stems() -> tuple[str, ...]:
    """Texts of which each phrase for the state of stock contains one; used as a fast filter."""
    return stems(*(phrases.table for phrases in (OUT, BACK, IN, LABELS_BEFORE, LABELS_AFTER)))


def schema_availability(value: object) -> Availability:
    """The availability of a machine-readable value (`https://schema.org/InStock`, `in stock`, `oos`)."""
    if isinstance(value, dict):
        value = value.get("@id") or value.get("name") or ""
    if isinstance(value, list):
        states = {schema_availability(one) for one in value}
        return states.pop() if len(states) == 1 else Availability.UNKNOWN
    if not isinstance(value, str):
        return Availability.UNKNOWN
    name = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    plain = re.sub(r"[\W_]+", "", name).lower().removeprefix("schemaorg")
    return _SCHEMA.get(plain, Availability.UNKNOWN)


def text_availability(text: str) -> Availability:
    """The availability of the product in a short displayed text; UNKNOWN if it states none."""
    return _text_availability(text[:_MAX_TEXT_LENGTH])


# The pages of a shop repeat the same few texts.
@lru_cache(maxsize=4096)
def _text_availability(text: str) -> Availability:
    lowered = NEARLY_OUT.sub("low stock", POSSIBLE_BACKORDER.sub("", _lowered(text)))
    if OTHER_SUBJECT.search(lowered):
        return Availability.UNKNOWN
    pieces = pieces_in_stock(lowered)
    if pieces == 0 or OUT.search(lowered):
        return Availability.OUT_OF_STOCK
    if BACK.search(lowered):
        return Availability.BACKORDER
    return Availability.IN_STOCK if pieces or IN.search(lowered) else Availability.UNKNOWN


def stock_phrases(texts: list[str], max_length: int = 1000) -> list[tuple[int, Availability]]:
    """The indexes and availabilities of the texts that state one; fast for many texts that do not."""
    joined = "\x00".join(texts).lower().replace("\u0307", "").replace("’", "'")
    if joined.count("\x00") != len(texts) - 1:
        return []
    starts = _starts(joined)
    hits: set[int] = set()
    for stem in _stems():
        position = joined.find(stem)
        while position >= 0:
            hits.add(bisect_right(starts, position) - 1)
            position = joined.find(stem, position + len(stem))
    found: list[tuple[int, Availability]] = []
    for index in sorted(hits):
        text = collapse_spaces(texts[index])
        state = text_availability(text) if len(text) <= max_length else Availability.UNKNOWN
        if state is not Availability.UNKNOWN:
            found.append((index, state))
    return found


def _starts(text: str) -> list[int]:
    starts = [0]
    position = text.find("\x00")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\x00", position + 1)
    return starts


@lru_cache(maxsize=4096)
def is_buy_button(text: str) -> bool:
    """Whether the label of a button means "add to cart" or "buy"."""
    return BUY.search(_lowered(text)) is not None


def names_store(text: str) -> bool:
    """Whether a short text names a store of the shop: "Sixes Road Store", "Filiale Graz"."""
    return _STORE.search(_lowered(text)) is not None


@lru_cache(maxsize=4096)
def is_contact_button(text: str) -> bool:
    """Whether the label of a button of an advert means "contact the seller" or "make an offer"."""
    return CONTACT.search(_lowered(text)) is not None


@lru_cache(maxsize=4096)
def delivery_promise(text: str) -> bool:
    """Whether a text says when the product arrives or is sent, so that it can be bought."""
    lowered = _lowered(text[:_MAX_PROMISE_LENGTH])
    return any(
        DELIVERY.search(clause) is not None
        and (TIME.search(clause) is not None or _has_month(clause))
        and not any(pattern.search(clause) for pattern in (OTHER_PROMISE, OUT, BACK))
        for clause in _CLAUSE_END.split(lowered)
    )


def _has_month(text: str) -> bool:
    return any((found[1] or found[2]) in MONTHS for found in _DAY_AND_WORD.finditer(text))


def _lowered(text: str) -> str:
    """The text in lower case with single spaces; a capital İ gives a plain i."""
    return collapse_spaces(text).lower().replace("\u0307", "").replace("’", "'")
