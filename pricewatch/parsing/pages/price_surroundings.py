"""The look and the line of a displayed price: words beside it, size of its text, names of its attributes."""

from __future__ import annotations

import re
from itertools import islice

from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.element_tree import INLINE, Element, short_text, text_within, visible_text
from pricewatch.parsing.prices.price_words import PERCENTAGE, has_other_words, last_mark_end
from pricewatch.parsing.text import collapse_spaces

# More text than this around a price makes it a part of a sentence.
_MAX_WORDS_LENGTH = 60
_MAX_LABEL_LENGTH = 300
_MAX_LABEL_WORDS = 40
# A line with more text, or with more parts, is a sentence.
_MAX_LINE_LENGTH = 1_000
_MAX_SIBLINGS = 200
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
        if len(before) > _MAX_LINE_LENGTH or len(after) > _MAX_LINE_LENGTH:
            break
        before, after = f"{_before(node, parent)} {before}", f"{after} {_after(node)}"
        node = parent
    label = node.getprevious() if node.tag in ("td", "dd") else None
    if label is None:
        return before, after
    return f"{_inline_text(label)[:_MAX_LABEL_LENGTH]} {before}", after


def _before(node: Element, parent: Element) -> str:
    pieces: list[str] = []
    for sibling in islice(node.itersiblings(preceding=True), _MAX_SIBLINGS):
        pieces.append(sibling.tail or "")
        if sibling.tag not in INLINE or sibling.tag == "br":
            # A short paragraph right before may be the label: "<p>Warranty</p> <span>€5</span>".
            label = short_text(sibling, _MAX_LABEL_WORDS) if sibling.tag == "p" else ""
            pieces.append(f"{label or ''} ")
            break
        pieces.append(_inline_text(sibling))
    else:
        pieces.append(parent.text or "")
    return "".join(reversed(pieces))[-_MAX_LINE_LENGTH:]


def _after(node: Element) -> str:
    pieces = [node.tail or ""]
    for sibling in islice(node.itersiblings(), _MAX_SIBLINGS):
        if sibling.tag not in INLINE or sibling.tag == "br":
            break
        pieces += (_inline_text(sibling), sibling.tail or "")
    return "".join(pieces)[:_MAX_LINE_LENGTH]


def _inline_text(element: Element) -> str:
    """The text of a part of a line; of a large part its beginning, which makes the line a sentence."""
    text = text_within(element, _MAX_LINE_LENGTH)
    return visible_text(element, _MAX_LINE_LENGTH, _MAX_LINE_LENGTH) if text is None else text


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
