"""The look and the line of a displayed price: words beside it, size of its text, names of its attributes."""

from __future__ import annotations

import re

from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.element_tree import INLINE, Element, raw_text
from pricewatch.parsing.prices.price_words import PERCENTAGE, has_other_words, last_mark_end
from pricewatch.parsing.text import collapse_spaces

# More text than this around a price makes it a part of a sentence.
_MAX_PROSE_LENGTH = 60
_MAX_LABEL_LENGTH = 300
_BIG = re.compile(
    r"(?:^|[\s_-])(?:text-(?:[2-9]?xl|h[1-4])|fs-[1-4]|h[1-4]|display-\d|headline|large|xlarge|big|huge)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_BIG_TAGS = frozenset({"h1", "h2", "h3", "h4", "strong", "b"})
_PRICE_ATTRIBUTE = re.compile(r"price|preis|prix|precio|prezzo|preco|cena", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNREAD_ATTRIBUTES = frozenset({"class", "href", "style", "src"})


def is_in_sentence(price: DisplayedPrice) -> bool:
    return not price.is_labelled and len(_line_of(price)) - len(price.text) > _MAX_PROSE_LENGTH


def words_beside(price: DisplayedPrice) -> str:
    """The words that may be about a price: in its block, and on the line of the block."""
    words = f"{price.words} {_words_around(price) if price.is_alone else ''}"
    return words[-_MAX_LABEL_LENGTH:].strip()


def has_words_beside(price: DisplayedPrice) -> bool:
    """Whether other words than "price" stand beside a price: they may say that it is another amount."""
    return has_other_words(words_beside(price))


def _words_around(price: DisplayedPrice) -> str:
    """The words on the line of a price, outside of its element, that may be about it.

    Words between two prices label the second.
    """
    before, own, after = _line_of(price).partition(price.text)
    if not own:
        return ""
    label, tail = PERCENTAGE.sub(" ", before), PERCENTAGE.sub(" ", after)
    return f"{label[last_mark_end(label) :]} {'' if _NUMBER.search(tail) else tail}"


def _line_of(price: DisplayedPrice) -> str:
    """The text of the paragraph, cell or box that a price stands in."""
    node = price.element
    while node is not None and node.tag in INLINE and node.getparent() is not None:
        node = node.getparent()
    if node is None:
        return ""
    label = node.getprevious() if node.tag in ("td", "dd") else None
    text = raw_text(node)[: 20 * _MAX_PROSE_LENGTH]
    return collapse_spaces(text if label is None else f"{raw_text(label)[:_MAX_PROSE_LENGTH]} {text}")


def attribute_says_price(element: Element | None) -> bool:
    for _ in range(3):
        if element is None:
            return False
        for name, value in element.items():
            if name not in _UNREAD_ATTRIBUTES and (
                _PRICE_ATTRIBUTE.search(name) or (len(value) < 60 and _PRICE_ATTRIBUTE.search(value))
            ):
                return True
        element = element.getparent()
    return False


def is_large_text(element: Element | None) -> bool:
    for _ in range(2):
        if element is None:
            return False
        if element.tag in _BIG_TAGS or _BIG.search(element.get("class") or ""):
            return True
        element = element.getparent()
    return False
