"""Roles of numbers from the words around them, in the languages of shops.

Only a number with the role CURRENT is what one customer pays now for one unit.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from pricewatch.parsing.phrase_table import PhrasePattern
from pricewatch.parsing.prices.cost_words import (
    ADDITION,
    FREE_SHIPPING,
    INSTALMENT,
    MEASURE,
    PER_UNIT,
    REMAINING,
    SHIPPING,
)
from pricewatch.parsing.prices.extra_words import (
    APPROXIMATE,
    APPROXIMATE_SIGNS,
    BID,
    EXTRA,
    LEVY,
    MEMBER,
    OTHER_CONDITION,
)
from pricewatch.parsing.prices.role_words import (
    COUPON,
    FROM,
    FROM_AFTER,
    INSTEAD_AFTER,
    LIST,
    PERCENT_SAVING,
    REDUCED_PRICE,
    REGULAR,
    SAVED,
    SAVING,
    WITHOUT_DISCOUNT,
)
from pricewatch.parsing.prices.tax_words import GROSS, GROSS_ANYWHERE, NET


class Role(StrEnum):
    """The role of a number on a page; only CURRENT is a price to store."""

    CURRENT = "current"
    REGULAR = "regular"
    LIST = "list"
    FROM = "from"
    RANGE = "range"
    INSTALMENT = "instalment"
    PER_UNIT = "per unit"
    NET = "without tax"
    SAVING = "saving"
    SHIPPING = "shipping"
    EXTRA = "extra"
    OTHER_CONDITION = "other condition or seller"
    VARIANT = "variant"
    RELATED = "related product"
    BID = "bid"
    ZERO = "zero"
    NOT_MONEY = "a date, a measure or a count"


_LABEL_LENGTH = 48
_ADJACENT_LENGTH = 28

# Patterns for the text before a number; the first match decides.
_BEFORE: tuple[tuple[PhrasePattern | re.Pattern[str], Role], ...] = (
    (BID, Role.BID),
    (INSTALMENT, Role.INSTALMENT),
    (PER_UNIT, Role.PER_UNIT),
    (SHIPPING, Role.SHIPPING),
    (WITHOUT_DISCOUNT, Role.LIST),
    (SAVING, Role.SAVING),
    (COUPON, Role.SAVING),
    (OTHER_CONDITION, Role.OTHER_CONDITION),
    (EXTRA, Role.EXTRA),
    (MEMBER, Role.EXTRA),
    (APPROXIMATE, Role.EXTRA),
    (NET, Role.NET),
    (LIST, Role.LIST),
    (REGULAR, Role.REGULAR),
)
# A from-price may be of something else than the product: "used from €5".
_FROM_OTHER = (
    (INSTALMENT, Role.INSTALMENT),
    (OTHER_CONDITION, Role.OTHER_CONDITION),
    (SHIPPING, Role.SHIPPING),
    (EXTRA, Role.EXTRA),
)
_AFTER = (
    (BID, Role.BID),
    (REMAINING, Role.SHIPPING),
    (MEASURE, Role.PER_UNIT),
    (INSTALMENT, Role.INSTALMENT),
    (PER_UNIT, Role.PER_UNIT),
    (NET, Role.NET),
    (INSTEAD_AFTER, Role.LIST),
)
# Patterns that count only right after the number: "€5.99 delivery", but not "€20 plus delivery".
_NEXT = (
    (SHIPPING, Role.SHIPPING),
    (SAVED, Role.SAVING),
    (COUPON, Role.SAVING),
    (LIST, Role.LIST),
    (LEVY, Role.EXTRA),
    (MEMBER, Role.EXTRA),
)
_NEXT_LENGTH = 14
# Phrases that contain words of a role and do not give it.
_UNRELATED = {Role.SHIPPING: FREE_SHIPPING, Role.SAVING: REDUCED_PRICE}
# Words with a colon label the next number: "€12 without tax: €10".
_LATIN_C = re.compile(r"\bc(?=\s[^\W\d_]*\s?[а-яё])")
_COLON = re.compile(r"\.?\s?:")


def includes_tax(text: str) -> bool:
    """Whether a lower-case text says that its price includes tax."""
    return GROSS_ANYWHERE.search(text) is not None


def without_tax_words(text: str) -> str:
    """A lower-case text without the words that say that its price includes tax."""
    return GROSS_ANYWHERE.sub(" ", text)


def role_from_context(before: str, after: str, *, is_last: bool = True) -> Role:
    """The role of a number from the lower-case text around it; `is_last` if no number follows.

    Words between two numbers label the second, unless they directly follow the first ("10 € / month").
    """
    label = PERCENT_SAVING.sub(" ", before) if "%" in before else before
    label = _plain(label.rstrip()[-_LABEL_LENGTH:])
    return _role(label, _plain(after.lstrip()[:_ADJACENT_LENGTH]), is_last=is_last)


@lru_cache(maxsize=4096)
def _role(label: str, tail: str, *, is_last: bool) -> Role:
    if not any(map(str.isalpha, label)) and not any(map(str.isalpha, tail)) and not FROM_AFTER.search(tail):
        return Role.EXTRA if label.endswith(APPROXIMATE_SIGNS) else Role.CURRENT
    if FROM.search(label) or FROM_AFTER.search(tail):
        if INSTALMENT.search(tail):
            return Role.INSTALMENT
        return next((role for pattern, role in _FROM_OTHER if pattern.search(label)), Role.FROM)
    role = _role_before(label, tail)
    if role is not None:
        return role
    for pattern, role in _AFTER:
        match = pattern.search(tail)
        if match and (is_last or (match.start() <= 1 and not _COLON.match(tail, match.end()))):
            return role
    if SAVED.search(tail) and not is_last:
        return Role.SAVING
    if is_last and not ADDITION.search(tail):
        for pattern, role in _NEXT:
            if pattern.search(tail[:_NEXT_LENGTH]):
                return role
    return Role.CURRENT


def _role_before(label: str, tail: str) -> Role | None:
    if not label:
        return None
    for pattern, role in _BEFORE:
        if not pattern.search(label):
            continue
        # "Free delivery €20" and "price after discount €8" are prices.
        unrelated = _UNRELATED.get(role)
        if unrelated and not pattern.search(unrelated.without(label)):
            continue
        if not (role is Role.NET and GROSS.search(tail)):
            return role
    return None


def _plain(text: str) -> str:
    """The text with plain apostrophes and without the dot above that a lower-case İ leaves."""
    if text.isascii():
        return text
    # A Latin c that stands alone in Russian text is the word "with".
    return _LATIN_C.sub("с", text.replace("\u0307", "").replace("’", "'"))
