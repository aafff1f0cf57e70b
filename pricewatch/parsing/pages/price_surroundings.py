"""The look and the line of a displayed price: words beside it, size of its text, names of its attributes."""

from __future__ import annotations

import re

from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.element_tree import INLINE, Element, raw_text, short_text
from pricewatch.parsing.prices.price_words import PERCENTAGE, has_other_words, last_mark_end
from pricewatch.parsing.text import collapse_spaces

# More text than this around a price makes it a part of a sentence.
_MAX_WORDS_LENGTH = 60
_MAX_LABEL_LENGTH = 300
_MAX_LABEL_WORDS = 40
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
    """Whether a price without a label stands among so many words that it is not a price tag."""
    return not price.is_labelled and len(words_beside(price)) > _MAX_WORDS_LENGTH


def has_words_beside(price: DisplayedPrice) -> bool:
    """Whether other words than "price" stand beside a price: they may say that it is another amount."""
    return has_other_words(words_beside(price))


def words_beside(price: DisplayedPrice) -> str:
    """The words that may be about a price: in its block, and on the line of the block.

    Words between two prices label the second.
    """
    if not price.is_alone or price.element is None:
        return price.words.strip()
    before, after = (PERCENTAGE.sub(" ", text) for text in _line_around(price.element))
    label, tail = before[last_mark_end(before) :], "" if _NUMBER.search(after) else after
    return collapse_spaces(f"{label} {price.words} {tail}")[-_MAX_LABEL_LENGTH:]


def _line_around(element: Element) -> tuple[str, str]:
    """The text before and after an element on its line; the row of a table is one line."""
    before, after, node = "", "", element
    while node.tag in INLINE and (parent := node.getparent()) is not None:
        before, after = f"{_before(node, parent)} {before}", f"{after} {_after(node)}"
        node = parent
    label = node.getprevious() if node.tag in ("td", "dd") else None
    return (before if label is None else f"{raw_text(label)[:_MAX_LABEL_LENGTH]} {before}"), after


def _before(node: Element, parent: Element) -> str:
    text = parent.text or ""
    for sibling in parent:
        if sibling is node:
            break
        is_inline = sibling.tag in INLINE and sibling.tag != "br"
        if not is_inline:
            # A short paragraph right before may be the label: "<p>Warranty</p> <span>€5</span>".
            text = (short_text(sibling, _MAX_LABEL_WORDS) or "") if sibling.tag == "p" else ""
        text = f"{text}{raw_text(sibling) if is_inline else ' '}{sibling.tail or ''}"
    return text


def _after(node: Element) -> str:
    text = node.tail or ""
    for sibling in node.itersiblings():
        if sibling.tag not in INLINE or sibling.tag == "br":
            break
        text = f"{text}{raw_text(sibling)}{sibling.tail or ''}"
    return text


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
